//! The bounds that benchmarks promise for their metrics.

use std::fmt;

use crate::subject::Subject;

/// The promised limit of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    pub(crate) metric: &'static str,
    pub(crate) limit: Limit,
    /// The subject whose reading is limited.
    pub(crate) subject: Subject,
}

/// The limit of a reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Limit {
    /// The maximum ratio to the baseline.
    MaxRatio(f64),
    /// The maximum value.
    Max(f64),
    /// The minimum ratio to the baseline.
    MinRatio(f64),
}

impl Bound {
    /// Limits the ratio to the baseline to at most `most`.
    pub(crate) const fn ratio(metric: &'static str, most: f64) -> Self {
        Self {
            metric,
            limit: Limit::MaxRatio(most),
            subject: Subject::Kubewright,
        }
    }

    /// Limits the value to at most `most`.
    pub(crate) const fn value(metric: &'static str, most: f64) -> Self {
        Self {
            metric,
            limit: Limit::Max(most),
            subject: Subject::Kubewright,
        }
    }

    /// Limits the ratio to the baseline to at least `least`.
    pub(crate) const fn at_least(metric: &'static str, least: f64) -> Self {
        Self {
            metric,
            limit: Limit::MinRatio(least),
            subject: Subject::Kubewright,
        }
    }

    /// Applies the limit to another subject instead of [`Subject::Kubewright`].
    pub(crate) const fn of(self, subject: Subject) -> Self {
        Self { subject, ..self }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.metric)?;
        if self.subject != Subject::Kubewright {
            write!(f, " of {}", self.subject)?;
        }
        match self.limit {
            Limit::MaxRatio(most) => write!(f, " at most {most}x"),
            Limit::Max(most) => write!(f, " at most {most}"),
            Limit::MinRatio(least) => write!(f, " at least {least}x"),
        }
    }
}

//! Checks of readings against the bounds that a benchmark promises.

use crate::bound::{Bound, Limit};
use crate::error::Error;
use crate::readings::Readings;

/// Checks the medians of all subjects.
pub(crate) fn check(rows: &[Readings], promised: &[Bound]) -> Result<(), Error> {
    let baseline = rows.iter().find(|row| row.subject.is_baseline());
    let value = |row: Option<&Readings>, metric: &str| row?.values.get(metric).copied();
    check_figures(promised, |bound| {
        let own = rows.iter().find(|row| row.subject == bound.subject);
        Figures {
            own: value(own, bound.metric),
            baseline: value(baseline, bound.metric),
        }
    })
}

/// The figures that a bound compares. A missing figure was not measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    /// The figure of the subject that the bound limits.
    pub(crate) own: Option<f64>,
    /// The figure of the baseline.
    pub(crate) baseline: Option<f64>,
}

/// Checks figures that are no [`Readings`].
pub(crate) fn check_figures(
    promised: &[Bound],
    figures: impl Fn(&Bound) -> Figures,
) -> Result<(), Error> {
    promised
        .iter()
        .try_for_each(|bound| check_bound(*bound, figures(bound)))
}

fn check_bound(bound: Bound, figures: Figures) -> Result<(), Error> {
    let ratio = || {
        let pair = figures.own.zip(figures.baseline);
        pair.map(|(own, baseline)| own / baseline)
    };
    let measured = match bound.limit {
        Limit::Max(_) => figures.own,
        Limit::MaxRatio(_) | Limit::MinRatio(_) => ratio(),
    };
    let found = measured.ok_or(Error::NotMeasured { bound })?;
    let is_within = match bound.limit {
        Limit::Max(most) | Limit::MaxRatio(most) => found <= most,
        Limit::MinRatio(least) => found >= least,
    };
    if is_within {
        return Ok(());
    }
    Err(Error::OutOfBound { bound, found })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::bound::Bound;
    use crate::readings::Readings;
    use crate::subject::Subject;

    fn row(subject: Subject, metric: &str, value: f64) -> Readings {
        Readings {
            subject,
            values: [(metric.to_owned(), value)].into(),
        }
    }

    #[test]
    fn error_names_the_bound_and_the_reading_outside_of_it() {
        let rows = [
            row(Subject::ControllerRuntime, "item_ns_1", 100.0),
            row(Subject::Kubewright, "item_ns_1", 11.0),
        ];
        let bound = |most| [Bound::ratio("item_ns_1", most)];
        assert!(check(&rows, &bound(0.11)).is_ok());
        assert_eq!(
            check(&rows, &bound(0.1)).unwrap_err().to_string(),
            "check item_ns_1 at most 0.1x: measured 0.110"
        );
        assert!(check(&rows[..1], &bound(0.1)).is_err());
        assert!(check(&rows[1..], &[Bound::value("item_ns_1", 11.0)]).is_ok());
        assert!(check(&rows[1..], &[Bound::value("item_ns_1", 10.0)]).is_err());
        assert!(check(&rows, &[Bound::value("absent", 10.0)]).is_err());
        assert!(check(&rows, &[Bound::at_least("item_ns_1", 0.1)]).is_ok());
        assert_eq!(
            check(&rows, &[Bound::at_least("item_ns_1", 0.2)])
                .unwrap_err()
                .to_string(),
            "check item_ns_1 at least 0.2x: measured 0.110"
        );
    }

    #[test]
    fn bound_can_apply_to_another_subject() {
        let projection = Subject::KubewrightProjection;
        let rows = [
            row(Subject::ControllerRuntime, "settled_mb", 100.0),
            row(Subject::Kubewright, "settled_mb", 20.0),
            row(projection, "settled_mb", 11.0),
        ];
        let bound = |most| [Bound::ratio("settled_mb", most).of(projection)];
        assert!(check(&rows, &bound(0.11)).is_ok());
        assert_eq!(
            check(&rows, &bound(0.1)).unwrap_err().to_string(),
            "check settled_mb of kubewright-projection at most 0.1x: measured 0.110"
        );
        assert!(check(&rows[..2], &bound(0.11)).is_err());
    }
}

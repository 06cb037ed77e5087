use std::collections::BTreeMap;
use std::fmt;
use std::process::Stdio;
use std::time::Duration;

use kubewright_bench_subject::median;
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::error::Error;
use crate::subject::{Built, Subject, tail};

/// A subject that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(600);

/// What one subject measured, by name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Readings {
    pub(crate) subject: Subject,
    pub(crate) values: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct Line {
    metric: String,
    value: f64,
}

impl Readings {
    /// Reads what a subject printed, a line a reading.
    pub(crate) fn parse(subject: Subject, stdout: &str) -> Result<Self, Error> {
        let mut values = BTreeMap::new();
        for line in stdout.lines().filter(|line| !line.trim().is_empty()) {
            let read: Line = serde_json::from_str(line).map_err(|source| Error::Line {
                subject,
                line: line.to_owned(),
                source,
            })?;
            values.insert(read.metric, read.value);
        }
        Ok(Self { subject, values })
    }

    /// One line of JSON a reading.
    pub(crate) fn json_lines(&self, benchmark: &str) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            benchmark: &'a str,
            subject: Subject,
            metric: &'a str,
            value: f64,
        }
        let lines = self.values.iter().map(|(metric, value)| {
            let line = serde_json::to_string(&Line {
                benchmark,
                subject: self.subject,
                metric,
                value: (value * 1e4).round() / 1e4,
            });
            line.expect("a struct of names and a finite number is always JSON") + "\n"
        });
        lines.collect()
    }
}

impl fmt::Display for Readings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.subject)?;
        for (metric, value) in &self.values {
            write!(f, " {metric} {value:.1}")?;
        }
        Ok(())
    }
}

/// Runs a subject once and reads what it measured.
///
/// # Cancel safety
///
/// Dropping the future ends the subject.
pub(crate) async fn measure(built: &Built, arguments: &[String]) -> Result<Readings, Error> {
    let subject = built.subject;
    let mut command = Command::new(&built.program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(LIMIT, command.output())
        .await
        .map_err(|_| Error::SubjectSlow {
            subject,
            limit: LIMIT,
        })?
        .map_err(|source| Error::Spawn {
            command: built.program.display().to_string(),
            source,
        })?;
    if !output.status.success() {
        return Err(Error::SubjectFailed {
            subject,
            status: output.status,
            tail: tail(&String::from_utf8_lossy(&output.stderr)),
        });
    }
    Readings::parse(subject, &String::from_utf8_lossy(&output.stdout))
}

/// One row a subject, in the order in which they first ran: the medians of its runs.
pub(crate) fn medians(runs: &[Readings]) -> Vec<Readings> {
    let mut rows: Vec<Readings> = Vec::new();
    for run in runs {
        if rows.iter().any(|row| row.subject == run.subject) {
            continue;
        }
        let own = || runs.iter().filter(|one| one.subject == run.subject);
        let values = run.values.keys().filter_map(|metric| {
            let values: Vec<f64> = own()
                .filter_map(|one| one.values.get(metric).copied())
                .collect();
            Some((metric.clone(), median(&values)?))
        });
        rows.push(Readings {
            subject: run.subject,
            values: values.collect(),
        });
    }
    rows
}

/// The reading that says what was computed.
pub(crate) const CHECKSUM: &str = "checksum";
/// The reading that says how much was done.
const OBJECTS: &str = "objects";

/// Whether a reading must be the same for all: nobody wins by doing less.
pub(crate) fn is_work(metric: &str) -> bool {
    [CHECKSUM, OBJECTS].contains(&metric)
}

/// Whether all subjects did the same, where they say what.
pub(crate) fn agree(runs: &[Readings]) -> Result<(), Error> {
    for metric in [CHECKSUM, OBJECTS] {
        let mut known: Option<(Subject, f64)> = None;
        for run in runs {
            let Some(&value) = run.values.get(metric) else {
                continue;
            };
            let (subject, first) = *known.get_or_insert((run.subject, value));
            if first.total_cmp(&value).is_ne() {
                return Err(Error::DifferentWork {
                    metric,
                    left: (subject, first),
                    right: (run.subject, value),
                });
            }
        }
    }
    Ok(())
}

/// What a benchmark promises of one of our readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    pub(crate) metric: &'static str,
    pub(crate) limit: Limit,
    /// Whose reading.
    pub(crate) subject: Subject,
}

/// How large a reading may be, or must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Limit {
    /// At most so many times the peer's.
    MostRatio(f64),
    /// At most this.
    Most(f64),
    /// At least so many times the peer's.
    LeastRatio(f64),
}

impl Bound {
    /// At most so many times the peer's.
    pub(crate) const fn ratio(metric: &'static str, most: f64) -> Self {
        Self {
            metric,
            limit: Limit::MostRatio(most),
            subject: Subject::Kubewright,
        }
    }

    /// At most this.
    pub(crate) const fn value(metric: &'static str, most: f64) -> Self {
        Self {
            metric,
            limit: Limit::Most(most),
            subject: Subject::Kubewright,
        }
    }

    /// At least so many times the peer's.
    pub(crate) const fn at_least(metric: &'static str, least: f64) -> Self {
        Self {
            metric,
            limit: Limit::LeastRatio(least),
            subject: Subject::Kubewright,
        }
    }

    /// Whether our reading is within the limit, given the peer's.
    fn check(self, own: Option<f64>, base: Option<f64>) -> Result<(), Error> {
        let ratio = || own.zip(base).map(|(own, base)| own / base);
        let (found, is_kept): (_, fn(f64, f64) -> bool) = match self.limit {
            Limit::Most(_) => (own, |found, most| found <= most),
            Limit::MostRatio(_) => (ratio(), |found, most| found <= most),
            Limit::LeastRatio(_) => (ratio(), |found, least| found >= least),
        };
        let (Limit::Most(bound) | Limit::MostRatio(bound) | Limit::LeastRatio(bound)) = self.limit;
        match found {
            None => Err(Error::NothingToHold { bound: self }),
            Some(found) if is_kept(found, bound) => Ok(()),
            Some(found) => Err(Error::BrokenBound { bound: self, found }),
        }
    }

    /// The same of another subject of ours.
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
            Limit::MostRatio(most) => write!(f, " at most {most}x"),
            Limit::Most(most) => write!(f, " at most {most}"),
            Limit::LeastRatio(least) => write!(f, " at least {least}x"),
        }
    }
}

/// Whether each of our readings is within what was promised.
pub(crate) fn hold(rows: &[Readings], promised: &[Bound]) -> Result<(), Error> {
    let base = rows.iter().find(|row| row.subject.is_baseline());
    let value = |row: Option<&Readings>, metric: &str| row?.values.get(metric).copied();
    hold_figures(promised, |bound| {
        let own = rows.iter().find(|row| row.subject == bound.subject);
        (value(own, bound.metric), value(base, bound.metric))
    })
}

/// The same for figures of whatever origin, each ours and the peer's.
pub(crate) fn hold_figures(
    promised: &[Bound],
    figures: impl Fn(&Bound) -> (Option<f64>, Option<f64>),
) -> Result<(), Error> {
    promised.iter().try_for_each(|bound| {
        let (own, base) = figures(bound);
        bound.check(own, base)
    })
}

#[cfg(test)]
mod tests {
    use super::{Bound, Readings, agree, hold, medians};
    use crate::subject::Subject;

    #[test]
    fn each_subject_gets_the_median_of_its_own_runs() {
        let run = |subject, value: f64| {
            let line = format!("{{\"metric\":\"item_ns_1\",\"value\":{value}}}\n");
            Readings::parse(subject, &line).unwrap()
        };
        let (ours, theirs) = (Subject::Kubewright, Subject::ControllerRuntime);
        let runs = [
            run(theirs, 9.0),
            run(ours, 3.0),
            run(ours, 1.0),
            run(ours, 2.0),
        ];
        let medians = medians(&runs);
        assert_eq!(medians.len(), 2);
        assert_eq!(
            medians[1].json_lines("queue"),
            "{\"benchmark\":\"queue\",\"subject\":\"kubewright\",\"metric\":\"item_ns_1\",\"value\":2.0}\n"
        );
    }

    fn row(subject: Subject, metric: &str, value: f64) -> Readings {
        Readings {
            subject,
            values: [(metric.to_owned(), value)].into(),
        }
    }

    #[test]
    fn a_reading_above_its_bound_is_an_error_that_names_it() {
        let rows = [
            row(Subject::ControllerRuntime, "item_ns_1", 100.0),
            row(Subject::Kubewright, "item_ns_1", 11.0),
        ];
        let bound = |most| [Bound::ratio("item_ns_1", most)];
        assert!(hold(&rows, &bound(0.11)).is_ok());
        assert_eq!(
            hold(&rows, &bound(0.1)).unwrap_err().to_string(),
            "hold item_ns_1 at most 0.1x: it is 0.110"
        );
        assert!(hold(&rows[..1], &bound(0.1)).is_err());
        assert!(hold(&rows[1..], &[Bound::value("item_ns_1", 11.0)]).is_ok());
        assert!(hold(&rows[1..], &[Bound::value("item_ns_1", 10.0)]).is_err());
        assert!(hold(&rows, &[Bound::value("absent", 10.0)]).is_err());
        assert!(hold(&rows, &[Bound::at_least("item_ns_1", 0.1)]).is_ok());
        assert_eq!(
            hold(&rows, &[Bound::at_least("item_ns_1", 0.2)])
                .unwrap_err()
                .to_string(),
            "hold item_ns_1 at least 0.2x: it is 0.110"
        );
    }

    #[test]
    fn a_bound_may_be_of_another_subject_of_ours() {
        let part = Subject::KubewrightProjection;
        let rows = [
            row(Subject::ControllerRuntime, "settled_mb", 100.0),
            row(Subject::Kubewright, "settled_mb", 20.0),
            row(part, "settled_mb", 11.0),
        ];
        let bound = |most| [Bound::ratio("settled_mb", most).of(part)];
        assert!(hold(&rows, &bound(0.11)).is_ok());
        assert_eq!(
            hold(&rows, &bound(0.1)).unwrap_err().to_string(),
            "hold settled_mb of kubewright-projection at most 0.1x: it is 0.110"
        );
        assert!(hold(&rows[..2], &bound(0.11)).is_err());
    }

    #[test]
    fn subjects_that_computed_something_else_are_both_named() {
        let ours = row(Subject::Kubewright, "checksum", 7.0);
        let theirs = |sum| row(Subject::ControllerRuntime, "checksum", sum);
        let silent = row(Subject::Kube, "item_ns_1", 1.0);
        assert!(agree(&[theirs(7.0), silent, ours.clone()]).is_ok());
        assert_eq!(
            agree(&[theirs(8.0), ours]).unwrap_err().to_string(),
            "compare the subjects: controller-runtime has checksum 8, kubewright has 7; they did not do the same work"
        );
    }

    #[test]
    fn a_foreign_line_is_named() {
        let error = Readings::parse(Subject::Kubewright, "hello").unwrap_err();
        assert!(error.to_string().contains("\"hello\""), "{error}");
    }
}

//! The readings of subjects that have metrics of their own.

use std::collections::BTreeMap;
use std::fmt;

use kubewright_bench_subject::median;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::subject::Subject;

/// The values that a subject measured, by metric.
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
    /// Parses the output of a subject: one line of JSON per reading.
    pub(crate) fn parse(subject: Subject, stdout: &str) -> Result<Self, Error> {
        let mut values = BTreeMap::new();
        for line in stdout.lines().filter(|line| !line.trim().is_empty()) {
            let reading: Line = serde_json::from_str(line).map_err(|source| Error::Line {
                subject,
                line: line.to_owned(),
                source,
            })?;
            values.insert(reading.metric, reading.value);
        }
        Ok(Self { subject, values })
    }

    /// Formats the readings as lines of JSON.
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

/// Returns the medians of the runs of each subject, in the order of their first runs.
pub(crate) fn medians(runs: &[Readings]) -> Vec<Readings> {
    let mut rows: Vec<Readings> = Vec::new();
    for run in runs {
        if rows.iter().any(|row| row.subject == run.subject) {
            continue;
        }
        let own = || runs.iter().filter(|other| other.subject == run.subject);
        let values = run.values.keys().filter_map(|metric| {
            let values: Vec<f64> = own()
                .filter_map(|other| other.values.get(metric).copied())
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

/// The metric of the checksum of the result.
pub(crate) const CHECKSUM: &str = "checksum";
/// The metric of the number of processed objects.
const OBJECTS: &str = "objects";

/// Whether a metric measures the work itself. It must be equal for all subjects, so that a subject
/// that does less is not counted as faster.
pub(crate) fn is_work(metric: &str) -> bool {
    [CHECKSUM, OBJECTS].contains(&metric)
}

/// Checks that all subjects that print a checksum or a number of objects print the same one.
pub(crate) fn check_equal_work(runs: &[Readings]) -> Result<(), Error> {
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

#[cfg(test)]
mod tests {
    use super::{Readings, check_equal_work, medians};
    use crate::subject::Subject;

    #[test]
    fn medians_are_taken_per_subject() {
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
    fn error_names_two_subjects_with_different_checksums() {
        let ours = row(Subject::Kubewright, "checksum", 7.0);
        let theirs = |sum| row(Subject::ControllerRuntime, "checksum", sum);
        let without_checksum = row(Subject::Kube, "item_ns_1", 1.0);
        assert!(check_equal_work(&[theirs(7.0), without_checksum, ours.clone()]).is_ok());
        assert_eq!(
            check_equal_work(&[theirs(8.0), ours])
                .unwrap_err()
                .to_string(),
            "compare the subjects: controller-runtime has checksum 8, kubewright has 7; the subjects did different work"
        );
    }

    #[test]
    fn error_names_a_line_that_is_no_reading() {
        let error = Readings::parse(Subject::Kubewright, "hello").unwrap_err();
        assert!(error.to_string().contains("\"hello\""), "{error}");
    }
}

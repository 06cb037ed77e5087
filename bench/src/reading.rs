use std::collections::BTreeMap;
use std::fmt;
use std::process::Stdio;
use std::time::Duration;

use kubewright_bench_subject::median;
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::error::Error;
use crate::subject::{Built, Subject};

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
    fn parse(subject: Subject, stdout: &str) -> Result<Self, Error> {
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
            tail: String::from_utf8_lossy(&output.stderr).into_owned(),
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

/// Whether each of our readings is at most so many times controller-runtime's.
pub(crate) fn hold(rows: &[Readings], most: f64) -> Result<(), Error> {
    let row = |subject| rows.iter().find(|row| row.subject == subject);
    let (Some(own), Some(base)) = (row(Subject::Kubewright), row(Subject::ControllerRuntime))
    else {
        return Err(Error::NothingToHold);
    };
    for (metric, base) in &base.values {
        let ratio = own
            .values
            .get(metric)
            .map_or(f64::INFINITY, |own| own / base);
        if ratio > most {
            return Err(Error::AboveBound {
                metric: metric.clone(),
                ratio,
                most,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Readings, hold, medians};
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

    #[test]
    fn a_ratio_above_its_bound_is_an_error_that_names_it() {
        let row = |subject, value| Readings {
            subject,
            values: [("item_ns_1".to_owned(), value)].into(),
        };
        let rows = [
            row(Subject::ControllerRuntime, 100.0),
            row(Subject::Kubewright, 11.0),
        ];
        assert!(hold(&rows, 0.11).is_ok());
        let error = hold(&rows, 0.1).unwrap_err().to_string();
        assert!(
            error.contains("item_ns_1") && error.contains("0.110"),
            "{error}"
        );
        assert!(hold(&rows[..1], 0.1).is_err());
    }

    #[test]
    fn a_foreign_line_is_named() {
        let error = Readings::parse(Subject::Kubewright, "hello").unwrap_err();
        assert!(error.to_string().contains("\"hello\""), "{error}");
    }
}

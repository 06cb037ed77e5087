//! The results of the benchmark `cache`.

use std::collections::BTreeMap;

use kubewright_bench_subject::{Measurement, Metric, median};
use serde::Serialize;
use serde_json::Number;

use crate::error::Error;
use crate::readings::Readings;
use crate::subject::Subject;

/// The measurements of one run of a subject.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) subject: Subject,
    pub(crate) costs: BTreeMap<Metric, f64>,
    pub(crate) objects: u64,
    pub(crate) checksum: u64,
}

impl Run {
    /// Parses the output of a subject. Every common metric is required.
    pub(crate) fn parse(subject: Subject, stdout: &str) -> Result<Self, Error> {
        let mut values = BTreeMap::new();
        for line in stdout.lines().filter(|line| !line.trim().is_empty()) {
            let measurement: Measurement =
                serde_json::from_str(line).map_err(|source| Error::Line {
                    subject,
                    line: line.to_owned(),
                    source,
                })?;
            values.insert(measurement.metric, measurement.value);
        }
        let value = |metric| {
            let found = values.get(&metric).cloned();
            found.ok_or(Error::MetricMissing { subject, metric })
        };
        let count = |metric| {
            let value: Number = value(metric)?;
            value.as_u64().ok_or(Error::NotACount {
                subject,
                metric,
                value,
            })
        };
        let is_present = |metric: &Metric| {
            metric.is_cost() && (metric.is_common() || values.contains_key(metric))
        };
        let costs = Metric::ALL.into_iter().filter(is_present).map(|metric| {
            let cost = value(metric)?.as_f64();
            Ok((
                metric,
                cost.ok_or(Error::MetricMissing { subject, metric })?,
            ))
        });
        Ok(Self {
            subject,
            costs: costs.collect::<Result<_, Error>>()?,
            objects: count(Metric::Objects)?,
            checksum: count(Metric::Checksum)?,
        })
    }
}

/// The medians of the runs of a subject.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Summary {
    pub(crate) subject: Subject,
    pub(crate) costs: BTreeMap<Metric, f64>,
    pub(crate) objects: u64,
    pub(crate) checksum: u64,
}

/// Returns a summary per subject, in the order of their first runs.
///
/// Fails unless every run has read `objects` objects, with equal checksums.
pub(crate) fn summarize(runs: &[Run], objects: u64) -> Result<Vec<Summary>, Error> {
    let Some(first) = runs.first() else {
        return Ok(Vec::new());
    };
    for run in runs {
        require_equal(Metric::Objects, first, run, |run| run.objects)?;
        require_equal(Metric::Checksum, first, run, |run| run.checksum)?;
    }
    if first.objects != objects {
        return Err(Error::WrongCount {
            subject: first.subject,
            objects: first.objects,
            expected: objects,
        });
    }
    let mut summaries: Vec<Summary> = Vec::new();
    for run in runs {
        if summaries.iter().all(|known| known.subject != run.subject) {
            summaries.push(summary(run, runs));
        }
    }
    Ok(summaries)
}

fn require_equal(
    metric: Metric,
    left: &Run,
    right: &Run,
    value: impl Fn(&Run) -> u64,
) -> Result<(), Error> {
    let (left_value, right_value) = (value(left), value(right));
    if left_value == right_value {
        return Ok(());
    }
    Err(Error::Disagree {
        metric,
        left: left.subject,
        left_value,
        right: right.subject,
        right_value,
    })
}

fn summary(first: &Run, runs: &[Run]) -> Summary {
    let own = || runs.iter().filter(|run| run.subject == first.subject);
    let medians = first.costs.keys().filter_map(|metric| {
        let values: Vec<f64> = own()
            .filter_map(|run| run.costs.get(metric).copied())
            .collect();
        Some((*metric, median(&values)?))
    });
    Summary {
        subject: first.subject,
        costs: medians.collect(),
        objects: first.objects,
        checksum: first.checksum,
    }
}

#[derive(Serialize)]
struct Line<'a> {
    benchmark: &'a str,
    subject: Subject,
    size: u64,
    metric: Metric,
    value: Number,
}

/// Adds the memory per additional object, the growth from each size to the next. The first size has
/// no such value.
pub(crate) fn with_growth(mut sizes: Vec<Vec<Summary>>) -> Vec<Vec<Summary>> {
    for index in (1..sizes.len()).rev() {
        let (before, after) = sizes.split_at_mut(index);
        let (Some(smaller), Some(larger)) = (before.last(), after.first_mut()) else {
            continue;
        };
        for summary in larger {
            let previous = smaller
                .iter()
                .find(|other| other.subject == summary.subject);
            if let Some(growth) = previous.and_then(|previous| growth(previous, summary)) {
                summary.costs.insert(Metric::BytesPerObject, growth);
            }
        }
    }
    sizes
}

fn growth(smaller: &Summary, larger: &Summary) -> Option<f64> {
    let settled = |summary: &Summary| summary.costs.get(&Metric::SettledMb).copied();
    let objects = u32::try_from(larger.objects.checked_sub(smaller.objects)?).ok()?;
    let bytes = (settled(larger)? - settled(smaller)?) * 1e6;
    (objects > 0).then(|| bytes / f64::from(objects))
}

/// Formats the measurements as lines of JSON.
pub(crate) fn json_lines(benchmark: &str, summaries: &[Summary]) -> String {
    let mut text = String::new();
    for summary in summaries {
        for metric in Metric::ALL {
            let Some(value) = summary.value(metric) else {
                continue;
            };
            let line = serde_json::to_string(&Line {
                benchmark,
                subject: summary.subject,
                size: summary.objects,
                metric,
                value,
            });
            text.push_str(&line.expect("a struct of names and a number is always JSON"));
            text.push('\n');
        }
    }
    text
}

impl Summary {
    /// Returns the costs by the names that bounds use.
    pub(crate) fn readings(&self) -> Readings {
        let costs = self.costs.iter();
        Readings {
            subject: self.subject,
            values: costs
                .map(|(metric, cost)| (metric.to_string(), *cost))
                .collect(),
        }
    }

    /// Returns a value with at most four decimals. Runs differ by more than that.
    fn value(&self, metric: Metric) -> Option<Number> {
        match metric {
            Metric::Objects => Some(self.objects.into()),
            Metric::Checksum => Some(self.checksum.into()),
            cost => Number::from_f64((self.costs.get(&cost)? * 1e4).round() / 1e4),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use kubewright_bench_subject::Metric;

    use super::{Run, Summary, json_lines, summarize, with_growth};
    use crate::subject::Subject;

    /// Returns a run in which every cost is `cost`.
    pub(crate) fn run(subject: Subject, cost: f64, checksum: u64) -> Run {
        let costs = Metric::ALL
            .into_iter()
            .filter(|metric| metric.is_cost() && metric.is_common());
        Run {
            subject,
            costs: costs.map(|metric| (metric, cost)).collect(),
            objects: 10,
            checksum,
        }
    }

    fn output(skip: Option<Metric>) -> String {
        let lines = Metric::ALL
            .into_iter()
            .filter(|metric| Some(*metric) != skip);
        lines
            .map(|metric| format!("{{\"metric\":\"{metric}\",\"value\":7}}\n"))
            .collect()
    }

    #[test]
    fn run_is_parsed_from_the_output_of_a_subject() {
        let run = Run::parse(Subject::Kube, &output(None)).unwrap();
        assert_eq!((run.objects, run.checksum), (7, 7));
        assert_eq!(run.costs.len(), 8);
        let run = Run::parse(Subject::Kube, &output(Some(Metric::IndexGetUs))).unwrap();
        assert_eq!(run.costs.len(), 7);
    }

    #[test]
    fn error_names_a_missing_metric_or_an_invalid_line() {
        let error = Run::parse(Subject::Kube, &output(Some(Metric::ListMs))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "parse the output of kube: list_ms is missing"
        );
        let error = Run::parse(Subject::Kube, "hello").unwrap_err();
        assert_eq!(
            error.to_string(),
            "parse the output of kube: \"hello\" is not a line of the protocol"
        );
    }

    #[test]
    fn medians_are_taken_per_subject() {
        let (ours, theirs) = (Subject::Kubewright, Subject::ControllerRuntime);
        let runs = [
            run(theirs, 4.0, 1),
            run(ours, 1.0, 1),
            run(ours, 9.0, 1),
            run(theirs, 5.0, 1),
            run(theirs, 6.0, 1),
            run(ours, 2.0, 1),
        ];
        let summaries = summarize(&runs, 10).unwrap();
        let seconds = |summary: &Summary| (summary.subject, summary.costs[&Metric::Seconds]);
        let medians: Vec<_> = summaries.iter().map(seconds).collect();
        assert_eq!(medians, [(theirs, 5.0), (ours, 2.0)]);
    }

    #[test]
    fn error_names_two_subjects_that_disagree() {
        let runs = [
            run(Subject::ControllerRuntime, 1.0, 41),
            run(Subject::Kubewright, 1.0, 42),
        ];
        assert_eq!(
            summarize(&runs, 10).unwrap_err().to_string(),
            "compare the subjects: controller-runtime has checksum 41, kubewright has 42; the subjects read different objects"
        );
        let mut fewer = run(Subject::Kube, 1.0, 41);
        fewer.objects = 9;
        let runs = [run(Subject::ControllerRuntime, 1.0, 41), fewer];
        assert_eq!(
            summarize(&runs, 10).unwrap_err().to_string(),
            "compare the subjects: controller-runtime has objects 10, kube has 9; the subjects read different objects"
        );
    }

    #[test]
    fn reading_fewer_objects_than_were_created_is_an_error() {
        let error = summarize(&[run(Subject::Kube, 1.0, 1)], 11).unwrap_err();
        assert_eq!(
            error.to_string(),
            "compare the subjects: kube read 10 objects, but 11 were created"
        );
    }

    #[test]
    fn bytes_per_object_are_the_growth_of_settled_memory_between_sizes() {
        let size = |objects: u64, settled: f64| {
            let mut run = run(Subject::Kubewright, settled, 1);
            run.objects = objects;
            summarize(&[run], objects).unwrap()
        };
        let sizes = with_growth(vec![
            size(1000, 20.0),
            size(10_000, 38.0),
            size(100_000, 218.0),
        ]);
        let growth = |index: usize| sizes[index][0].costs.get(&Metric::BytesPerObject).copied();
        assert_eq!(
            [growth(0), growth(1), growth(2)],
            [None, Some(2000.0), Some(2000.0)]
        );
    }

    #[test]
    fn json_has_one_line_per_measurement() {
        let runs = [run(Subject::ControllerRuntime, 1.289_96, (1 << 53) - 1)];
        let text = json_lines("cache", &summarize(&runs, 10).unwrap());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 8);
        assert_eq!(
            lines[0],
            r#"{"benchmark":"cache","subject":"controller-runtime","size":10,"metric":"seconds","value":1.29}"#
        );
        assert_eq!(
            lines[7],
            r#"{"benchmark":"cache","subject":"controller-runtime","size":10,"metric":"checksum","value":9007199254740991}"#
        );
    }
}

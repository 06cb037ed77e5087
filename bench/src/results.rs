use std::collections::BTreeMap;

use kubewright_bench_subject::{Measurement, Metric, median};
use serde::Serialize;
use serde_json::Number;

use crate::error::Error;
use crate::reading::Readings;
use crate::subject::Subject;

/// What one run of one subject measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) subject: Subject,
    pub(crate) costs: BTreeMap<Metric, f64>,
    pub(crate) objects: u64,
    pub(crate) checksum: u64,
}

impl Run {
    /// Reads what the subject printed; each metric must be there.
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
        let costs = Metric::ALL.into_iter().filter(|metric| metric.is_cost());
        let costs = costs.filter(|metric| metric.is_common() || values.contains_key(metric));
        let costs = costs.map(|metric| {
            let cost = value(metric)?.as_f64();
            let cost = cost.ok_or(Error::MetricMissing { subject, metric })?;
            Ok((metric, cost))
        });
        Ok(Self {
            subject,
            costs: costs.collect::<Result<_, Error>>()?,
            objects: count(Metric::Objects)?,
            checksum: count(Metric::Checksum)?,
        })
    }
}

/// What one subject costs: the medians of its runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Summary {
    pub(crate) subject: Subject,
    pub(crate) costs: BTreeMap<Metric, f64>,
    pub(crate) objects: u64,
    pub(crate) checksum: u64,
}

/// One summary a subject, in the order in which they first ran.
///
/// Every run must have read `objects` objects, and all the same ones.
pub(crate) fn summarize(runs: &[Run], objects: u64) -> Result<Vec<Summary>, Error> {
    let Some(first) = runs.first() else {
        return Ok(Vec::new());
    };
    for run in runs {
        require_equal(Metric::Objects, (first, first.objects), (run, run.objects))?;
        require_equal(
            Metric::Checksum,
            (first, first.checksum),
            (run, run.checksum),
        )?;
    }
    if first.objects != objects {
        return Err(Error::WrongCount {
            subject: first.subject,
            objects: first.objects,
            wanted: objects,
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

fn require_equal(metric: Metric, left: (&Run, u64), right: (&Run, u64)) -> Result<(), Error> {
    if left.1 == right.1 {
        return Ok(());
    }
    Err(Error::Disagree {
        metric,
        left: left.0.subject,
        left_value: left.1,
        right: right.0.subject,
        right_value: right.1,
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

/// Fills in by how much memory grows with each further object, from each size to the next; of the
/// first size it is not known.
pub(crate) fn with_growth(mut sizes: Vec<Vec<Summary>>) -> Vec<Vec<Summary>> {
    for at in (1..sizes.len()).rev() {
        let (before, after) = sizes.split_at_mut(at);
        let (Some(smaller), Some(larger)) = (before.last(), after.first_mut()) else {
            continue;
        };
        for one in larger {
            let former = smaller.iter().find(|other| other.subject == one.subject);
            if let Some(growth) = former.and_then(|former| growth(former, one)) {
                one.costs.insert(Metric::BytesPerObject, growth);
            }
        }
    }
    sizes
}

fn growth(smaller: &Summary, larger: &Summary) -> Option<f64> {
    let settled = |one: &Summary| one.costs.get(&Metric::SettledMb).copied();
    let objects = u32::try_from(larger.objects.checked_sub(smaller.objects)?).ok()?;
    let bytes = (settled(larger)? - settled(smaller)?) * 1e6;
    (objects > 0).then(|| bytes / f64::from(objects))
}

/// One line of JSON a measurement.
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
    /// Its costs by name, as bounds name them.
    pub(crate) fn readings(&self) -> Readings {
        let costs = self.costs.iter();
        Readings {
            subject: self.subject,
            values: costs
                .map(|(metric, cost)| (metric.to_string(), *cost))
                .collect(),
        }
    }

    /// The value with at most four decimals, which is finer than any run repeats.
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

    /// A run in which every cost is `cost`.
    pub(crate) fn run(subject: Subject, cost: f64, checksum: u64) -> Run {
        let costs = Metric::ALL.into_iter();
        let costs = costs.filter(|metric| metric.is_cost() && metric.is_common());
        Run {
            subject,
            costs: costs.map(|metric| (metric, cost)).collect(),
            objects: 10,
            checksum,
        }
    }

    fn printed(skip: Option<Metric>) -> String {
        let lines = Metric::ALL
            .into_iter()
            .filter(|metric| Some(*metric) != skip);
        lines
            .map(|metric| format!("{{\"metric\":\"{metric}\",\"value\":7}}\n"))
            .collect()
    }

    #[test]
    fn a_run_is_read_from_the_lines_of_its_subject() {
        let run = Run::parse(Subject::Kube, &printed(None)).unwrap();
        assert_eq!((run.objects, run.checksum), (7, 7));
        assert_eq!(run.costs.len(), 8);
        let run = Run::parse(Subject::Kube, &printed(Some(Metric::IndexGetUs))).unwrap();
        assert_eq!(run.costs.len(), 7);
    }

    #[test]
    fn a_missing_metric_and_a_foreign_line_are_named() {
        let error = Run::parse(Subject::Kube, &printed(Some(Metric::ListMs))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "read what kube measured: it printed no list_ms"
        );
        let error = Run::parse(Subject::Kube, "hello").unwrap_err();
        assert_eq!(
            error.to_string(),
            "read what kube measured: \"hello\" is not a line of the protocol"
        );
    }

    #[test]
    fn each_subject_gets_the_median_of_its_own_runs() {
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
    fn subjects_that_disagree_are_both_named() {
        let runs = [
            run(Subject::ControllerRuntime, 1.0, 41),
            run(Subject::Kubewright, 1.0, 42),
        ];
        assert_eq!(
            summarize(&runs, 10).unwrap_err().to_string(),
            "compare the subjects: controller-runtime has checksum 41, kubewright has 42; they did not read the same objects"
        );
        let mut fewer = run(Subject::Kube, 1.0, 41);
        fewer.objects = 9;
        let runs = [run(Subject::ControllerRuntime, 1.0, 41), fewer];
        assert_eq!(
            summarize(&runs, 10).unwrap_err().to_string(),
            "compare the subjects: controller-runtime has objects 10, kube has 9; they did not read the same objects"
        );
    }

    #[test]
    fn reading_fewer_objects_than_were_loaded_is_an_error() {
        let error = summarize(&[run(Subject::Kube, 1.0, 1)], 11).unwrap_err();
        assert_eq!(
            error.to_string(),
            "compare the subjects: kube read 10 objects, 11 were loaded"
        );
    }

    #[test]
    fn memory_for_each_further_object_is_the_growth_from_size_to_size() {
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
        let growth = |at: usize| sizes[at][0].costs.get(&Metric::BytesPerObject).copied();
        assert_eq!(
            [growth(0), growth(1), growth(2)],
            [None, Some(2000.0), Some(2000.0)]
        );
    }

    #[test]
    fn json_has_one_line_a_measurement() {
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

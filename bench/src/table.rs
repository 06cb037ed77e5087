//! Tables of results for the terminal.

use std::collections::BTreeSet;

use kubewright_bench_subject::Metric;

use crate::readings::{Readings, is_work};
use crate::results::Summary;
use crate::subject::Subject;

/// The subject that ratios are relative to.
const BASELINE: Subject = Subject::ControllerRuntime;

/// Formats results of the benchmark `cache`: a row per subject, each cost with its ratio to the
/// baseline if that was run.
pub(crate) fn render(summaries: &[Summary]) -> String {
    let baseline = summaries.iter().find(|summary| summary.subject == BASELINE);
    let is_measured = |metric: &Metric| {
        metric.is_common()
            || summaries
                .iter()
                .any(|summary| summary.costs.contains_key(metric))
    };
    let columns = || Metric::ALL.into_iter().filter(is_measured);
    let header = std::iter::once("subject".to_owned()).chain(columns().map(|m| m.to_string()));
    let mut rows: Vec<Vec<String>> = vec![header.collect()];
    for summary in summaries {
        let baseline = baseline.filter(|_| summary.subject != BASELINE);
        let mut row = vec![summary.subject.to_string()];
        row.extend(columns().map(|metric| cell(metric, summary, baseline)));
        rows.push(row);
    }
    align(&rows)
}

fn cell(metric: Metric, summary: &Summary, baseline: Option<&Summary>) -> String {
    let cost = |summary: &Summary| summary.costs.get(&metric).copied();
    match metric {
        Metric::Objects => summary.objects.to_string(),
        Metric::Checksum => summary.checksum.to_string(),
        _ => with_ratio(cost(summary), baseline.and_then(cost)),
    }
}

/// Formats readings: a row per subject, each reading with its ratio to the baseline if that was run.
pub(crate) fn align_readings(rows: &[Readings]) -> String {
    let baseline = rows.iter().find(|row| row.subject.is_baseline());
    let metrics: BTreeSet<&String> = rows.iter().flat_map(|row| row.values.keys()).collect();
    let header = metrics.iter().map(ToString::to_string);
    let mut cells = vec![
        std::iter::once("subject".to_owned())
            .chain(header)
            .collect(),
    ];
    for row in rows {
        let readings = metrics.iter().map(|metric| {
            let own = row.values.get(*metric).copied();
            if is_work(metric) {
                return own.map_or("-".to_owned(), |sum| format!("{sum:.0}"));
            }
            let base = baseline
                .filter(|base| row.subject != base.subject)
                .and_then(|base| base.values.get(*metric));
            with_ratio(own, base.copied())
        });
        cells.push(
            std::iter::once(row.subject.to_string())
                .chain(readings)
                .collect(),
        );
    }
    align(&cells)
}

/// Formats a value with its ratio to the baseline.
pub(crate) fn with_ratio(own: Option<f64>, base: Option<f64>) -> String {
    match (own, base) {
        (Some(own), Some(base)) if base > 0.0 => {
            format!("{} ({}x)", three_digits(own), three_digits(own / base))
        }
        (Some(own), _) => three_digits(own),
        (None, _) => "-".to_owned(),
    }
}

/// Formats a value with three significant digits: 845, 25.3, 1.29, 0.052.
fn three_digits(value: f64) -> String {
    match value {
        _ if value >= 99.95 => format!("{value:.0}"),
        _ if value >= 9.995 => format!("{value:.1}"),
        _ if value >= 0.1 => format!("{value:.2}"),
        _ if value >= 0.001 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// Pads all cells of a column to the same width.
pub(crate) fn align(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(String::len).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths);
        let padded: Vec<String> = cells
            .map(|(cell, &width)| format!("{cell:<width$}"))
            .collect();
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{render, three_digits};
    use crate::results::summarize;
    use crate::results::tests::run;
    use crate::subject::Subject;

    #[test]
    fn each_subject_has_a_row_with_ratios_to_controller_runtime() {
        let runs = [
            run(Subject::ControllerRuntime, 2.0, 77),
            run(Subject::Kubewright, 0.5, 77),
        ];
        let table = render(&summarize(&runs, 10).unwrap());
        let rows: Vec<Vec<&str>> = table
            .lines()
            .map(|line| {
                line.split("  ")
                    .map(str::trim)
                    .filter(|c| !c.is_empty())
                    .collect()
            })
            .collect();
        assert_eq!(
            rows,
            [
                "subject seconds peak_mb settled_mb get_cold_us get_hot_us list_ms objects checksum"
                    .split(' ')
                    .collect::<Vec<_>>(),
                vec![
                    "controller-runtime", "2.00", "2.00", "2.00", "2.00", "2.00", "2.00", "10", "77"
                ],
                vec![
                    "kubewright", "0.50 (0.25x)", "0.50 (0.25x)", "0.50 (0.25x)", "0.50 (0.25x)",
                    "0.50 (0.25x)", "0.50 (0.25x)", "10", "77"
                ],
            ]
        );
        let starts: Vec<_> = table.lines().map(|line| line.rfind("  ")).collect();
        assert!(starts.windows(2).all(|pair| pair[0] == pair[1]), "{table}");
    }

    #[test]
    fn table_without_controller_runtime_has_no_ratios() {
        let table = render(&summarize(&[run(Subject::Kube, 2.0, 1)], 10).unwrap());
        assert!(!table.contains('('), "{table}");
    }

    #[test]
    fn values_have_three_significant_digits() {
        let formatted = [845.04, 99.96, 25.31, 9.996, 1.289, 0.051_94, 0.000_31].map(three_digits);
        assert_eq!(
            formatted,
            ["845", "100", "25.3", "10.0", "1.29", "0.052", "0.0003"]
        );
    }
}

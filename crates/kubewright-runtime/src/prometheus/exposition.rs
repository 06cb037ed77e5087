//! Writes metrics in Prometheus' text format.

use std::fmt::Write as _;
use std::time::Duration;

use super::Histogram;

/// Metrics in Prometheus' text format, version 0.0.4.
///
/// ```
/// use kubewright_runtime::prometheus::{Exposition, MetricKind};
///
/// let mut page = Exposition::default();
/// let mut parcels = page.family("parcels_total", "Parcels sent.", MetricKind::Counter);
/// parcels.sample(&[("city", "Bonn")], 3.0);
/// assert_eq!(
///     page.into_text(),
///     "# HELP parcels_total Parcels sent.\n# TYPE parcels_total counter\n\
///      parcels_total{city=\"Bonn\"} 3\n"
/// );
/// ```
#[derive(Debug, Default)]
pub struct Exposition {
    text: String,
}

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetricKind {
    /// A value that only grows.
    Counter,
    /// A value that goes up and down.
    Gauge,
    /// Durations, counted in buckets.
    Histogram,
}

impl MetricKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

impl Exposition {
    /// The media type of the text.
    pub const MEDIA_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// Begins a metric. Write all its samples before the next metric, and each name only once: the
    /// format has one group of lines per metric.
    pub fn family<'e>(&'e mut self, name: &'e str, help: &str, kind: MetricKind) -> Family<'e> {
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        let kind = kind.as_str();
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
        Family { page: self, name }
    }

    /// The page as text.
    pub fn into_text(self) -> String {
        self.text
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{line}").expect("writing to a String cannot fail");
    }
}

/// A metric of an [`Exposition`] that is being written.
#[derive(Debug)]
pub struct Family<'e> {
    page: &'e mut Exposition,
    name: &'e str,
}

impl Family<'_> {
    /// Writes a value. Its labels distinguish it from the other values of the metric.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: f64) {
        let labels = braced(labels, None);
        self.page
            .line(format_args!("{}{labels} {}", self.name, number(value)));
    }

    /// Writes a count.
    pub fn count(&mut self, labels: &[(&str, &str)], count: u64) {
        let labels = braced(labels, None);
        self.page
            .line(format_args!("{}{labels} {count}", self.name));
    }

    /// Writes the buckets, the sum and the count of a histogram, in seconds.
    pub fn histogram(&mut self, labels: &[(&str, &str)], histogram: &Histogram) {
        let name = self.name;
        for (limit, count) in histogram.cumulative() {
            let limit = number(limit.as_secs_f64());
            let labels = braced(labels, Some(&limit));
            self.page
                .line(format_args!("{name}_bucket{labels} {count}"));
        }
        let count = histogram.count();
        let all = braced(labels, Some("+Inf"));
        self.page.line(format_args!("{name}_bucket{all} {count}"));
        let labels = braced(labels, None);
        let sum = number(Duration::as_secs_f64(&histogram.sum()));
        self.page.line(format_args!("{name}_sum{labels} {sum}"));
        self.page.line(format_args!("{name}_count{labels} {count}"));
    }
}

fn braced(labels: &[(&str, &str)], limit: Option<&str>) -> String {
    let bucket = limit.map(|limit| ("le", limit));
    let pairs: Vec<_> = labels
        .iter()
        .copied()
        .chain(bucket)
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
        .collect();
    if pairs.is_empty() {
        return String::new();
    }
    format!("{{{}}}", pairs.join(","))
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('"', "\\\"")
}

/// A number in Go's spelling: very small and very large values have an exponent.
fn number(value: f64) -> String {
    match value {
        _ if value == 0.0 => "0".to_owned(),
        _ if value.abs() < 1e-4 || value.abs() >= 1e21 => format!("{value:e}"),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Exposition, MetricKind};
    use crate::prometheus::Histogram;

    #[test]
    fn histogram_has_cumulative_buckets_and_ends_with_infinity() {
        const LIMITS: &[Duration] = &[Duration::from_nanos(10), Duration::from_millis(5)];
        let mut histogram = Histogram::new(LIMITS);
        histogram.observe(Duration::from_millis(1));
        histogram.observe(Duration::from_secs(2));
        let mut page = Exposition::default();
        page.family("wait_seconds", "Waits.", MetricKind::Histogram)
            .histogram(&[("name", "a")], &histogram);
        let text = page.into_text();
        let lines: Vec<_> = text.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                r#"wait_seconds_bucket{name="a",le="1e-8"} 0"#,
                r#"wait_seconds_bucket{name="a",le="0.005"} 1"#,
                r#"wait_seconds_bucket{name="a",le="+Inf"} 2"#,
                r#"wait_seconds_sum{name="a"} 2.001"#,
                r#"wait_seconds_count{name="a"} 2"#,
            ]
        );
    }

    #[test]
    fn labels_and_help_are_escaped() {
        let mut page = Exposition::default();
        page.family("odd", "two\nlines", MetricKind::Gauge)
            .sample(&[("path", "C:\\ \"x\"\n")], 1.5);
        assert_eq!(
            page.into_text(),
            "# HELP odd two\\nlines\n# TYPE odd gauge\nodd{path=\"C:\\\\ \\\"x\\\"\\n\"} 1.5\n"
        );
    }
}

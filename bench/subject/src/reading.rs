//! Readings of the subjects that have metrics of their own.

use std::io::{self, Write as _};

/// Prints a reading as a line of JSON: `{"metric":"item_ns_1","value":512.0}`.
pub fn print_reading(metric: &str, value: f64) -> io::Result<()> {
    let line = serde_json::json!({"metric": metric, "value": value});
    writeln!(io::stdout(), "{line}")
}

/// Returns the smallest value that at least `percent` of all values do not exceed; `None` if there
/// are no values.
pub fn percentile(values: &[f64], percent: u8) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() * usize::from(percent)).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentile_is_one_of_the_values() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        let found = [0, 50, 99, 100].map(|percent| percentile(&values, percent));
        assert_eq!(found, [1.0, 100.0, 198.0, 200.0].map(Some));
        assert_eq!(percentile(&[7.0], 50), Some(7.0));
        assert_eq!(percentile(&[], 50), None);
    }
}

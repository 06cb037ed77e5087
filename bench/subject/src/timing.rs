//! Medians and timed passes.

use tokio::time::Instant;

/// Returns the median: the middle value, or the mean of the two middle ones. `None` if there are no
/// values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len().is_multiple_of(2) {
        return Some(f64::midpoint(*sorted.get(middle - 1)?, upper));
    }
    Some(upper)
}

/// Runs `work` several times. Returns the median duration in seconds, zero if there are no passes.
pub fn median_seconds<E>(passes: usize, mut work: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let mut taken = Vec::with_capacity(passes);
    for _ in 0..passes {
        let start = Instant::now();
        work()?;
        taken.push(start.elapsed().as_secs_f64());
    }
    Ok(median(&taken).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{median, median_seconds};

    #[test]
    fn median_does_not_depend_on_the_order() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn failed_work_is_not_repeated() {
        let mut calls = 0;
        let result = median_seconds(3, || {
            calls += 1;
            Err("broken")
        });
        assert_eq!((result, calls), (Err("broken"), 1));
    }
}

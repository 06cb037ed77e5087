use tokio::time::Instant;

/// The middle of the values, or the mean of the two in the middle; none of none.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    match sorted.len() % 2 {
        1 => Some(upper),
        _ => Some(f64::midpoint(*sorted.get(middle - 1)?, upper)),
    }
}

/// Runs `work` several times; the median of the seconds it took, zero for no passes.
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
    fn median_is_the_middle_whatever_the_order() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn work_that_fails_is_not_repeated() {
        let mut calls = 0;
        let result = median_seconds(3, || {
            calls += 1;
            Err("broken")
        });
        assert_eq!((result, calls), (Err("broken"), 1));
    }
}

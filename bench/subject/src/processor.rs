use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The processor time that this process has used, all threads together.
///
/// What else runs on the machine hardly changes it.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::processor_time;

    #[test]
    fn work_takes_processor_time() {
        let before = processor_time();
        let sum = (0..1_000_000_u64).fold(0, |sum, one| std::hint::black_box(sum ^ one));
        assert!(processor_time() > before, "{sum}");
    }
}

//! The processor time of the process.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Returns the processor time of this process, all threads together.
///
/// Unlike wall time, it hardly depends on other processes of the machine.
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
    fn processor_time_grows_with_work() {
        let before = processor_time();
        let sum = (0..1_000_000_u64).fold(0, |sum, number| std::hint::black_box(sum ^ number));
        assert!(processor_time() > before, "{sum}");
    }
}

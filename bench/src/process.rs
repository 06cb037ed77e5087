//! Memory and processor time of other processes.

use std::time::Duration;

/// Clock ticks per second in `/proc`. `USER_HZ` is 100 on all supported architectures.
const TICKS: u64 = 100;

/// Returns the resident memory of processes, in millions of bytes.
pub(crate) fn resident_mb(processes: &[u32]) -> f64 {
    let resident = |pid: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib * 1024.0 / 1e6)
    };
    processes.iter().filter_map(resident).sum()
}

/// Returns the processor time of processes.
pub(crate) fn processor_time(processes: &[u32]) -> Duration {
    let process_ticks = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        ticks(&stat)
    };
    let ticks: u64 = processes.iter().filter_map(process_ticks).sum();
    Duration::from_millis(ticks * 1000 / TICKS)
}

/// Returns the processor time of all child processes that have ended.
pub(crate) fn children_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    Duration::from_millis(field_sum(&stat, 13).unwrap_or_default() * 1000 / TICKS)
}

/// Returns user and system time from a line of `/proc/PID/stat`.
fn ticks(stat: &str) -> Option<u64> {
    field_sum(stat, 11)
}

/// Returns the sum of two adjacent fields. Fields are counted after the process name, which may
/// contain spaces and parentheses.
fn field_sum(stat: &str, first: usize) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split_whitespace().skip(first);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::{field_sum, ticks};

    #[test]
    fn times_are_parsed_after_any_process_name() {
        let line = "7 (a) b) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 30 4 20 0 1 0 99 1 1";
        assert_eq!((ticks(line), field_sum(line, 13)), (Some(300), Some(34)));
    }
}

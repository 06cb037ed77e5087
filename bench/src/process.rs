use std::time::Duration;

/// Clock ticks a second in `/proc`: `USER_HZ` is 100 on every architecture we run on.
const TICKS: u64 = 100;

/// The memory that processes hold together, in millions of bytes.
pub(crate) fn resident_mb(processes: &[u32]) -> f64 {
    let one = |pid: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib * 1024.0 / 1e6)
    };
    processes.iter().filter_map(one).sum()
}

/// The processor time that processes have used together.
pub(crate) fn processor_time(processes: &[u32]) -> Duration {
    let one = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        ticks(&stat)
    };
    let ticks: u64 = processes.iter().filter_map(one).sum();
    Duration::from_millis(ticks * 1000 / TICKS)
}

/// The processor time of all programs that this one has started and waited for.
pub(crate) fn children_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    Duration::from_millis(field_sum(&stat, 13).unwrap_or_default() * 1000 / TICKS)
}

/// User and system time in a line of `/proc/PID/stat`; the name before may hold anything.
fn ticks(stat: &str) -> Option<u64> {
    field_sum(stat, 11)
}

/// The sum of two fields side by side, counted from behind the name.
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
    fn times_are_found_behind_any_name() {
        let line = "7 (a) b) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 30 4 20 0 1 0 99 1 1";
        assert_eq!((ticks(line), field_sum(line, 13)), (Some(300), Some(34)));
    }
}

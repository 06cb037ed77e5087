//! Metrics of the process, read from `/proc`.

use crate::prometheus::Exposition;
use crate::prometheus::MetricKind::{Counter, Gauge};

/// `sysconf(_SC_CLK_TCK)`, which Linux fixes for programs (`USER_HZ`).
const TICKS: f64 = 100.0;
/// `sysconf(_SC_PAGESIZE)` of x86-64 and, by default, of arm64.
const PAGE: f64 = 4096.0;

/// Writes CPU time, memory, threads and open files of this process, under the names that all
/// client libraries of Prometheus use. Writes nothing where there is no `/proc` of Linux.
pub fn write_process(page: &mut Exposition) {
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else {
        return;
    };
    let Some(stat) = Stat::parse(&stat) else {
        return;
    };
    let mut write = |name: &str, help: &str, kind, value: f64| {
        page.family(name, help, kind).sample(&[], value);
    };
    write(
        "process_cpu_seconds_total",
        "Total user and system CPU time spent in seconds.",
        Counter,
        stat.cpu_seconds,
    );
    write(
        "process_resident_memory_bytes",
        "Resident memory size in bytes.",
        Gauge,
        stat.resident_bytes,
    );
    write(
        "process_virtual_memory_bytes",
        "Virtual memory size in bytes.",
        Gauge,
        stat.virtual_bytes,
    );
    write(
        "process_threads",
        "Number of OS threads in the process.",
        Gauge,
        stat.threads,
    );
    if let Some(start) = boot_time().map(|boot| boot + stat.start_seconds) {
        write(
            "process_start_time_seconds",
            "Start time of the process since unix epoch in seconds.",
            Gauge,
            start,
        );
    }
    if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
        let open = u32::try_from(open.count()).unwrap_or(u32::MAX);
        write(
            "process_open_fds",
            "Number of open file descriptors.",
            Gauge,
            f64::from(open),
        );
    }
}

/// The fields of `/proc/self/stat` that are metrics; see proc_pid_stat(5).
#[derive(Debug, PartialEq)]
struct Stat {
    cpu_seconds: f64,
    threads: f64,
    start_seconds: f64,
    virtual_bytes: f64,
    resident_bytes: f64,
}

impl Stat {
    fn parse(text: &str) -> Option<Self> {
        // The name of the program is in parentheses and can contain parentheses itself.
        let (_, rest) = text.rsplit_once(')')?;
        // What follows the name begins with the third field.
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
        Some(Self {
            cpu_seconds: (field(14)? + field(15)?) / TICKS,
            threads: field(20)?,
            start_seconds: field(22)? / TICKS,
            virtual_bytes: field(23)?,
            resident_bytes: field(24)? * PAGE,
        })
    }
}

/// When the system was booted, in seconds since the epoch.
fn boot_time() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let line = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::Stat;

    #[test]
    fn program_name_with_parentheses_does_not_shift_the_fields() {
        let text = "7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 3 0 1200 4096000 25 1";
        assert_eq!(
            Stat::parse(text),
            Some(Stat {
                cpu_seconds: 3.0,
                threads: 3.0,
                start_seconds: 12.0,
                virtual_bytes: 4_096_000.0,
                resident_bytes: 102_400.0,
            })
        );
        assert_eq!(Stat::parse("7 (a"), None);
    }
}

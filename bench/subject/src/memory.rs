//! The memory usage of the process.

use crate::error::Error;

/// Returns the peak memory of this process, in millions of bytes.
pub fn peak_mb() -> Result<f64, Error> {
    read("VmHWM")
}

/// Returns the resident memory of this process, in millions of bytes.
pub fn resident_mb() -> Result<f64, Error> {
    read("VmRSS")
}

fn read(line: &'static str) -> Result<f64, Error> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|source| Error::Memory {
        line,
        source: Some(source),
    })?;
    parse(&status, line).ok_or(Error::Memory { line, source: None })
}

fn parse(status: &str, name: &str) -> Option<f64> {
    let rest = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kib: f64 = rest.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn memory_is_parsed_in_millions_of_bytes() {
        let status = "Name:\tx\nVmHWM:\t   250000 kB\nVmRSS:\t   125000 kB\n";
        assert_eq!(parse(status, "VmHWM"), Some(256.0));
        assert_eq!(parse(status, "VmRSS"), Some(128.0));
        assert_eq!(parse(status, "VmSwap"), None);
    }
}

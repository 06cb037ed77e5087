//! The machine that the benchmarks run on.

use std::fmt;
use std::fs;

/// The machine of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Machine {
    cores: usize,
    memory_gb: Option<f64>,
    model: Option<String>,
}

impl Machine {
    /// Reads the properties of this machine.
    pub(crate) fn current() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gb: memory_gb(&read("/proc/meminfo")),
            model: model(&read("/proc/cpuinfo")),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cores", self.cores)?;
        if let Some(memory) = self.memory_gb {
            write!(f, ", {memory:.1} GB")?;
        }
        if let Some(model) = &self.model {
            write!(f, ", {model}")?;
        }
        Ok(())
    }
}

/// The load average of the last minute; `None` if the system does not provide it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadAverage(Option<f64>);

impl LoadAverage {
    /// Reads the current load average.
    pub(crate) fn current() -> Self {
        let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let first = text.split_whitespace().next();
        Self(first.and_then(|average| average.parse().ok()))
    }
}

impl fmt::Display for LoadAverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(average) => write!(f, "{average:.2}"),
            None => f.write_str("unknown"),
        }
    }
}

fn memory_gb(meminfo: &str) -> Option<f64> {
    let rest = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: f64 = rest.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024.0 / 1e9)
}

fn model(cpuinfo: &str) -> Option<String> {
    cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == "model name").then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::{Machine, memory_gb, model};

    #[test]
    fn machine_is_printed_with_cores_memory_and_model() {
        let machine = Machine {
            cores: 2,
            memory_gb: memory_gb("MemTotal:       24414062 kB\nMemFree: 1 kB\n"),
            model: model("processor\t: 0\nmodel name\t: Fast CPU @ 3GHz\n"),
        };
        assert_eq!(machine.to_string(), "2 cores, 25.0 GB, Fast CPU @ 3GHz");
    }

    #[test]
    fn unknown_properties_of_a_machine_are_omitted() {
        let machine = Machine {
            cores: 8,
            memory_gb: memory_gb(""),
            model: model("processor: 0"),
        };
        assert_eq!(machine.to_string(), "8 cores");
    }
}

use std::fmt;
use std::fs;

/// What the numbers were measured on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Machine {
    cores: usize,
    memory_gb: Option<f64>,
    model: Option<String>,
}

impl Machine {
    /// This one.
    pub(crate) fn here() -> Self {
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

/// The load average of the last minute, where the system tells it.
pub(crate) fn load_average() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
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
    fn a_machine_is_told_by_cores_memory_and_model() {
        let machine = Machine {
            cores: 2,
            memory_gb: memory_gb("MemTotal:       24414062 kB\nMemFree: 1 kB\n"),
            model: model("processor\t: 0\nmodel name\t: Fast CPU @ 3GHz\n"),
        };
        assert_eq!(machine.to_string(), "2 cores, 25.0 GB, Fast CPU @ 3GHz");
    }

    #[test]
    fn what_the_system_does_not_tell_is_left_out() {
        let machine = Machine {
            cores: 8,
            memory_gb: memory_gb(""),
            model: model("processor: 0"),
        };
        assert_eq!(machine.to_string(), "8 cores");
    }
}

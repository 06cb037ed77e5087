use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, WaitOptions, waitpid};
use tokio::time::{Instant, sleep};

/// How often dead processes are looked for.
const INTERVAL: Duration = Duration::from_secs(10);
/// How long one is left to those who may have started it: whoever waits for a child collects it at
/// once, and would miss how it ended if it were collected before.
const ABANDONED: Duration = Duration::from_secs(60);

/// Collects dead processes that nobody else will: the first process of a container inherits those
/// whose parents have ended.
#[derive(Debug)]
pub(super) struct Reaper {
    /// `/proc` but in tests.
    processes: PathBuf,
    own: u32,
    dead_since: BTreeMap<u32, Instant>,
}

impl Reaper {
    /// None where another process is the first.
    pub(super) fn of_first_process() -> Option<Self> {
        (std::process::id() == 1).then(|| Self::new("/proc", 1))
    }

    fn new(processes: impl Into<PathBuf>, own: u32) -> Self {
        Self {
            processes: processes.into(),
            own,
            dead_since: BTreeMap::new(),
        }
    }

    /// Looks every few seconds, for ever.
    pub(super) async fn run(mut self) {
        loop {
            sleep(INTERVAL).await;
            for process in self.abandoned(Instant::now()) {
                collect(process);
            }
        }
    }

    /// The children that have been dead for long.
    fn abandoned(&mut self, now: Instant) -> Vec<u32> {
        let dead = dead_children(&self.processes, self.own);
        self.dead_since.retain(|process, _| dead.contains(process));
        for process in dead {
            self.dead_since.entry(process).or_insert(now);
        }
        let since = self.dead_since.iter();
        let long = since.filter(|(_, since)| now.duration_since(**since) >= ABANDONED);
        long.map(|(process, _)| *process).collect()
    }
}

fn collect(process: u32) {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid
        && let Err(error) = waitpid(Some(pid), WaitOptions::NOHANG)
    {
        tracing::debug!(process, %error, "collect a dead process");
    }
}

fn dead_children(processes: &Path, own: u32) -> Vec<u32> {
    let entries = std::fs::read_dir(processes).into_iter().flatten();
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_dead_child = |process: &u32| {
        let stat = std::fs::read_to_string(processes.join(process.to_string()).join("stat"));
        stat.is_ok_and(|stat| is_dead_child_of(&stat, own))
    };
    numbers.filter(is_dead_child).collect()
}

/// See proc_pid_stat(5): number, name in parentheses, state, number of the parent.
fn is_dead_child_of(stat: &str, own: u32) -> bool {
    let after_name = stat.rsplit_once(')').map(|(_, rest)| rest);
    let mut fields = after_name.unwrap_or_default().split_whitespace();
    fields.next() == Some("Z") && fields.next().and_then(|parent| parent.parse().ok()) == Some(own)
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{Reaper, collect, dead_children, is_dead_child_of};

    #[test]
    fn only_dead_children_of_ones_own_are_meant() {
        assert!(is_dead_child_of("7 (sh) Z 1 7 7 0", 1));
        assert!(is_dead_child_of("7 (a) b) Z 1 7 7 0", 1));
        assert!(!is_dead_child_of("7 (sh) S 1 7 7 0", 1));
        assert!(!is_dead_child_of("7 (sh) Z 2 7 7 0", 1));
        assert!(!is_dead_child_of("", 1));
    }

    #[tokio::test(start_paused = true)]
    #[expect(clippy::zombie_processes, reason = "the child that nobody waits for")]
    async fn a_dead_child_that_nobody_waits_for_is_collected_after_a_minute() {
        let own = std::process::id();
        let child = Command::new("true").spawn().unwrap();
        let number = child.id();
        while !dead_children("/proc".as_ref(), own).contains(&number) {
            tokio::task::yield_now().await;
        }
        let mut reaper = Reaper::new("/proc", own);
        let start = Instant::now();
        assert!(!reaper.abandoned(start).contains(&number));
        let soon = start + Duration::from_secs(59);
        assert!(!reaper.abandoned(soon).contains(&number));
        let later = start + Duration::from_secs(60);
        assert!(reaper.abandoned(later).contains(&number));
        collect(number);
        assert!(!dead_children("/proc".as_ref(), own).contains(&number));
        assert!(!reaper.abandoned(later).contains(&number));
    }
}

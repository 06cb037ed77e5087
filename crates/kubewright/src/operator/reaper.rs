//! Collects zombie processes, for an operator that is the first process of its container.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, WaitOptions, waitpid};
use tokio::time::{Instant, sleep};

/// The interval of checks for zombies.
const INTERVAL: Duration = Duration::from_secs(10);
/// The age at which a zombie is collected. Code of this process that waits for a child collects it
/// at once, and would miss its exit status if the reaper came first.
const ABANDONED: Duration = Duration::from_secs(60);

/// Collects zombies that no code of this process waits for: the first process of a container
/// inherits the children of processes that have exited.
#[derive(Debug)]
pub(super) struct Reaper {
    /// `/proc`, except in tests.
    processes: PathBuf,
    own: u32,
    zombie_since: BTreeMap<u32, Instant>,
}

impl Reaper {
    /// Returns `None` if this is not the first process.
    pub(super) fn of_first_process() -> Option<Self> {
        (std::process::id() == 1).then(|| Self::new("/proc", 1))
    }

    fn new(processes: impl Into<PathBuf>, own: u32) -> Self {
        Self {
            processes: processes.into(),
            own,
            zombie_since: BTreeMap::new(),
        }
    }

    /// Checks in intervals, forever.
    pub(super) async fn run(mut self) {
        loop {
            sleep(INTERVAL).await;
            for process in self.abandoned(Instant::now()) {
                collect(process);
            }
        }
    }

    /// Returns the children that have been zombies for long.
    fn abandoned(&mut self, now: Instant) -> Vec<u32> {
        let zombies = zombie_children(&self.processes, self.own);
        self.zombie_since
            .retain(|process, _| zombies.contains(process));
        for process in zombies {
            self.zombie_since.entry(process).or_insert(now);
        }
        self.zombie_since
            .iter()
            .filter(|(_, since)| now.duration_since(**since) >= ABANDONED)
            .map(|(process, _)| *process)
            .collect()
    }
}

fn collect(process: u32) {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid
        && let Err(error) = waitpid(Some(pid), WaitOptions::NOHANG)
    {
        tracing::debug!(process, %error, "collect a zombie process");
    }
}

fn zombie_children(processes: &Path, own: u32) -> Vec<u32> {
    let entries = std::fs::read_dir(processes).into_iter().flatten();
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_zombie_child = |process: &u32| {
        let stat = std::fs::read_to_string(processes.join(process.to_string()).join("stat"));
        stat.is_ok_and(|stat| is_zombie_child_of(&stat, own))
    };
    numbers.filter(is_zombie_child).collect()
}

/// See proc_pid_stat(5): number, name in parentheses, state, number of the parent.
fn is_zombie_child_of(stat: &str, own: u32) -> bool {
    let after_name = stat.rsplit_once(')').map(|(_, rest)| rest);
    let mut fields = after_name.unwrap_or_default().split_whitespace();
    fields.next() == Some("Z") && fields.next().and_then(|parent| parent.parse().ok()) == Some(own)
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{Reaper, collect, is_zombie_child_of, zombie_children};

    #[test]
    fn only_zombies_among_the_own_processes_match() {
        assert!(is_zombie_child_of("7 (sh) Z 1 7 7 0", 1));
        assert!(is_zombie_child_of("7 (a) b) Z 1 7 7 0", 1));
        assert!(!is_zombie_child_of("7 (sh) S 1 7 7 0", 1));
        assert!(!is_zombie_child_of("7 (sh) Z 2 7 7 0", 1));
        assert!(!is_zombie_child_of("", 1));
    }

    #[tokio::test(start_paused = true)]
    #[expect(clippy::zombie_processes, reason = "the test needs a zombie")]
    async fn zombie_is_collected_after_a_minute() {
        let own = std::process::id();
        let child = Command::new("true").spawn().unwrap();
        let number = child.id();
        while !zombie_children("/proc".as_ref(), own).contains(&number) {
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
        assert!(!zombie_children("/proc".as_ref(), own).contains(&number));
        assert!(!reaper.abandoned(later).contains(&number));
    }
}

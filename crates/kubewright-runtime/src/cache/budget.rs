use std::sync::atomic::{AtomicUsize, Ordering};

/// The most that is kept by default.
const MOST: usize = 16 << 20;
/// The default share of the memory limit.
const SHARE: usize = 16;

/// How many bytes of decoded objects all views of a process may keep at hand.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    used: AtomicUsize,
}

impl Budget {
    /// A budget of so many bytes.
    pub fn new(bytes: usize) -> Self {
        Self {
            limit: bytes,
            used: AtomicUsize::new(0),
        }
    }

    /// The smaller of 16 MB and a sixteenth of the memory limit of this process's cgroup.
    pub fn of_this_process() -> Self {
        let limits = [
            "/sys/fs/cgroup/memory.max",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        ];
        let limit = limits
            .iter()
            .filter_map(|path| std::fs::read_to_string(path).ok())
            .find_map(|text| text.trim().parse::<usize>().ok());
        Self::new(limit.map_or(MOST, |limit| (limit / SHARE).min(MOST)))
    }

    /// How many bytes are in use.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    pub(super) fn is_exceeded(&self) -> bool {
        self.used() > self.limit
    }

    pub(super) fn charge(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn refund(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

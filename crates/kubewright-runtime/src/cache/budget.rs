use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Limits;

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
        Self::within(Limits::read(Path::new("/")))
    }

    /// The smaller of 16 MB and a sixteenth of the memory that the limits leave.
    pub fn within(limits: Limits) -> Self {
        let limit = limits.memory.and_then(|bytes| usize::try_from(bytes).ok());
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

//! The memory that decoded objects may use.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::CgroupLimits;

/// The largest default budget.
const MAX_DEFAULT: usize = 16 << 20;
/// The default budget is the memory limit divided by this number.
const DEFAULT_SHARE: usize = 16;

/// The number of bytes of decoded objects that all views of a process may cache.
#[derive(Debug)]
pub struct MemoryBudget {
    limit: usize,
    used: AtomicUsize,
}

impl MemoryBudget {
    /// A budget of this number of bytes.
    pub fn new(bytes: usize) -> Self {
        Self {
            limit: bytes,
            used: AtomicUsize::new(0),
        }
    }

    /// The smaller of 16 MB and a sixteenth of the memory limit of this process's cgroup.
    pub fn of_this_process() -> Self {
        Self::within(CgroupLimits::read(Path::new("/")))
    }

    /// The smaller of 16 MB and a sixteenth of the memory limit.
    pub fn within(limits: CgroupLimits) -> Self {
        let limit = limits.memory.and_then(|bytes| usize::try_from(bytes).ok());
        Self::new(limit.map_or(MAX_DEFAULT, |limit| {
            (limit / DEFAULT_SHARE).min(MAX_DEFAULT)
        }))
    }

    /// The number of bytes in use.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    pub(crate) fn is_exceeded(&self) -> bool {
        self.used() > self.limit
    }

    pub(crate) fn charge(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn refund(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

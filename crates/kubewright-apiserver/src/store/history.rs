/// How far back a store remembers: the last writes, as long as what only they hold is not larger
/// than a number of bytes. Who wants to go on from before is told to list again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct History {
    /// How many writes.
    pub writes: usize,
    /// About how much memory the past states of objects may take.
    pub bytes: usize,
}

/// The last 8192 writes, within 64 MB.
impl Default for History {
    fn default() -> Self {
        Self {
            writes: 8192,
            bytes: 64 * 1024 * 1024,
        }
    }
}

/// So many writes, within the usual number of bytes.
impl From<usize> for History {
    fn from(writes: usize) -> Self {
        Self {
            writes,
            ..Self::default()
        }
    }
}

//! How many past writes a store keeps.

/// How many past writes the log of a store keeps, and how much memory they can take. A reader that
/// is further behind has to list again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct History {
    /// The number of writes.
    pub writes: usize,
    /// About the memory of past states, in bytes.
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

/// A number of writes, within the default number of bytes.
impl From<usize> for History {
    fn from(writes: usize) -> Self {
        Self {
            writes,
            ..Self::default()
        }
    }
}

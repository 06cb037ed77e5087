//! The objects of a cache that were read.

use std::fmt;

/// The number of objects that were read, and the sum of their checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The number of objects.
    pub objects: usize,
    /// The sum of the checksums, within [`CHECKSUM_MASK`](crate::CHECKSUM_MASK).
    pub checksum: u64,
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} objects with checksum {}",
            self.objects, self.checksum
        )
    }
}

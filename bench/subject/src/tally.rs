//! The objects that a reconciler has read.

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;

use k8s_openapi::api::core::v1::Pod;

use crate::checksum::{CHECKSUM_MASK, pod_checksum};
use crate::listed::Listed;

/// The objects that a reconciler has read so far, each counted once.
#[derive(Debug)]
pub struct Tally<K> {
    expected: usize,
    seen: HashSet<K>,
    sum: u64,
}

impl<K: Eq + Hash + Display> Tally<K> {
    /// Creates an empty tally for `expected` objects.
    pub fn new(expected: usize) -> Self {
        Self {
            expected,
            seen: HashSet::with_capacity(expected),
            sum: 0,
        }
    }

    /// Records a Pod that was read. Returns whether it was the last of the expected objects.
    pub fn note(&mut self, key: K, pod: &Pod) -> bool {
        self.note_sum(key, pod_checksum(pod))
    }

    /// Like [`Tally::note`], for an object with a known checksum.
    pub fn note_sum(&mut self, key: K, checksum: u64) -> bool {
        if !self.seen.insert(key) {
            return false;
        }
        self.sum = self.sum.wrapping_add(checksum) & CHECKSUM_MASK;
        self.seen.len() == self.expected
    }

    /// Returns the number of objects read so far and the sum of their checksums.
    pub fn read(&self) -> Listed {
        Listed {
            objects: self.seen.len(),
            checksum: self.sum,
        }
    }

    /// Returns the keys in order, and the result of [`Tally::read`].
    pub fn finish(self) -> (Vec<K>, Listed) {
        let read = self.read();
        let mut keys: Vec<K> = self.seen.into_iter().collect();
        keys.sort_by_cached_key(K::to_string);
        (keys, read)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;

    use super::Tally;
    use crate::pod_checksum;

    #[test]
    fn object_that_is_read_twice_counts_once() {
        let pod = Pod::default();
        let mut tally = Tally::new(2);
        assert!(!tally.note("b", &pod));
        assert!(!tally.note("b", &pod));
        assert!(tally.note("a", &pod));
        let (keys, read) = tally.finish();
        assert_eq!(keys, ["a", "b"]);
        assert_eq!(read.objects, 2);
        assert_eq!(
            read.checksum,
            pod_checksum(&pod).wrapping_mul(2) & crate::CHECKSUM_MASK
        );
    }
}

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;

use k8s_openapi::api::core::v1::Pod;

use crate::{CHECKSUM_MASK, Listed, pod_checksum};

/// What a reconciler has read so far, each object once.
#[derive(Debug)]
pub struct Tally<K> {
    expected: usize,
    seen: HashSet<K>,
    sum: u64,
}

impl<K: Eq + Hash + Display> Tally<K> {
    /// Nothing read yet, of so many objects.
    pub fn new(expected: usize) -> Self {
        Self {
            expected,
            seen: HashSet::with_capacity(expected),
            sum: 0,
        }
    }

    /// Notes that `pod` was read under `key`; true when it was the last one missing.
    pub fn note(&mut self, key: K, pod: &Pod) -> bool {
        self.note_sum(key, pod_checksum(pod))
    }

    /// As [`Tally::note`], of an object with this checksum.
    pub fn note_sum(&mut self, key: K, checksum: u64) -> bool {
        if !self.seen.insert(key) {
            return false;
        }
        self.sum = self.sum.wrapping_add(checksum) & CHECKSUM_MASK;
        self.seen.len() == self.expected
    }

    /// How many objects were read, and their sum.
    pub fn read(&self) -> Listed {
        Listed {
            objects: self.seen.len(),
            checksum: self.sum,
        }
    }

    /// The keys in order, and what was read.
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
    fn an_object_read_twice_counts_once() {
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

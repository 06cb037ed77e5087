use std::collections::HashMap;

use kubewright_core::ObjectKey;

/// Fewer are not worth a look at the store.
const FEW: usize = 64;

/// The resourceVersions that were complained about, so that each is logged once.
///
/// Never more than about twice as many as there are bad objects in the store.
#[derive(Debug)]
pub(super) struct Complaints {
    said: HashMap<ObjectKey, Box<str>>,
    /// With how many the store is asked which of them are still there.
    full: usize,
}

impl Default for Complaints {
    fn default() -> Self {
        Self {
            said: HashMap::new(),
            full: FEW,
        }
    }
}

impl Complaints {
    /// Notes a complaint, and says whether it is a new one; `is_there` tells which objects the
    /// store still has.
    pub(super) fn is_new(
        &mut self,
        key: &ObjectKey,
        resource_version: &str,
        is_there: impl Fn(&ObjectKey) -> bool,
    ) -> bool {
        let said = self.said.get(key);
        if said.is_some_and(|said| **said == *resource_version) {
            return false;
        }
        if self.said.len() >= self.full {
            self.said.retain(|key, _| is_there(key));
            self.full = FEW.max(self.said.len() * 2);
        }
        self.said.insert(key.clone(), resource_version.into());
        true
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::ObjectKey;

    use super::{Complaints, FEW};

    fn key(number: usize) -> ObjectKey {
        ObjectKey::namespaced("shop", &format!("a{number}"))
    }

    #[test]
    fn each_revision_of_an_object_is_complained_about_once() {
        let mut complaints = Complaints::default();
        let said =
            ["1", "1", "2", "2"].map(|revision| complaints.is_new(&key(0), revision, |_| true));
        assert_eq!(said, [true, false, true, false]);
    }

    #[test]
    fn objects_that_are_gone_are_forgotten_and_the_others_are_not() {
        let mut complaints = Complaints::default();
        let last = |key: &ObjectKey| *key == self::key(0);
        for number in 0..10_000 {
            assert!(complaints.is_new(&key(number), "1", last));
            assert!(complaints.said.len() <= FEW + 1);
        }
        assert!(!complaints.is_new(&key(0), "1", last));
    }

    #[test]
    fn objects_that_are_there_are_all_remembered() {
        let mut complaints = Complaints::default();
        for number in 0..1000 {
            complaints.is_new(&key(number), "1", |_| true);
        }
        assert!((0..1000).all(|number| !complaints.is_new(&key(number), "1", |_| true)));
    }
}

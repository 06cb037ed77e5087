//! The cache of decoded objects, with second-chance eviction.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;
use parking_lot::Mutex;

use crate::informer::MemoryBudget;

/// The size of a decoded object as a multiple of its record: measured on Pods (43 KB against
/// 2.8 KB).
const EXPANSION: usize = 15;

/// The decoded objects of one informer and one type.
///
/// Eviction is the clock algorithm (second chance): a hand moves around the cached objects, keeps
/// those that were used since its last visit for another round, and evicts the others. An evicted
/// object that a reader still holds stays known through a weak reference until the hand finds that
/// no reader is left. Only these entries can outlive their object, because a weak reference keeps
/// the whole allocation.
#[derive(Debug)]
pub(super) struct DecodedCache<K> {
    clock: Mutex<Clock<K>>,
    budget: Arc<MemoryBudget>,
}

#[derive(Debug)]
struct Clock<K> {
    slots: HashMap<ObjectKey, Slot<K>>,
    /// The keys in the order of the hand, its next key in front. Can contain keys without a slot.
    hand: VecDeque<ObjectKey>,
}

#[derive(Debug)]
struct Slot<K> {
    record: Record,
    object: Cached<K>,
}

#[derive(Debug)]
enum Cached<K> {
    /// Charged to the budget.
    Strong { object: Arc<K>, is_used: bool },
    /// Evicted while a reader held it.
    Evicted(Weak<K>),
}

impl<K> DecodedCache<K> {
    pub(super) fn new(budget: Arc<MemoryBudget>) -> Self {
        Self {
            clock: Mutex::new(Clock {
                slots: HashMap::new(),
                hand: VecDeque::new(),
            }),
            budget,
        }
    }

    /// The object that was decoded from this very record, if it is cached.
    pub(super) fn find(&self, key: &ObjectKey, record: &Record) -> Option<Arc<K>> {
        let mut clock = self.clock.lock();
        let slot = clock.slots.get_mut(key)?;
        if !slot.record.is_same(record) {
            return None;
        }
        match &mut slot.object {
            Cached::Strong { object, is_used } => {
                *is_used = true;
                Some(Arc::clone(object))
            }
            Cached::Evicted(object) => object.upgrade(),
        }
    }

    /// Caches an object and returns the cached one, which another thread can have inserted first.
    pub(super) fn insert(&self, key: ObjectKey, record: Record, object: K) -> Arc<K> {
        let object = Arc::new(object);
        let cost = cost(&record);
        if cost > self.budget.limit() {
            return object;
        }
        if let Some(present) = self.find(&key, &record) {
            return present;
        }
        // Dropped after the lock is released: dropping large objects takes time.
        let mut dropped = Vec::new();
        let mut clock = self.clock.lock();
        let slot = Slot {
            record,
            object: Cached::Strong {
                object: Arc::clone(&object),
                is_used: false,
            },
        };
        self.budget.charge(cost);
        match clock.slots.insert(key.clone(), slot) {
            Some(former) => {
                self.refund(&former);
                dropped.push(former);
            }
            None => clock.hand.push_back(key),
        }
        // Each insertion advances the hand, so that weak references do not accumulate.
        let mut steps = 2;
        while steps > 0 || self.budget.is_exceeded() {
            steps -= i32::from(steps > 0);
            if !self.advance(&mut clock, &mut dropped) {
                break;
            }
        }
        drop(clock);
        object
    }

    /// Whether these objects fit into half of the budget. Caching more would evict objects that are
    /// used often in favor of objects that are read once.
    pub(super) fn has_room_for<'r>(&self, mut records: impl Iterator<Item = &'r Record>) -> bool {
        let half = self.budget.limit() / 2;
        let sum = records.try_fold(0, |sum, record| {
            let sum = sum + cost(record);
            (sum <= half).then_some(sum)
        });
        sum.is_some()
    }

    /// Moves the hand by one object; false when the cache is empty.
    fn advance(&self, clock: &mut Clock<K>, dropped: &mut Vec<Slot<K>>) -> bool {
        let Some(key) = clock.hand.pop_front() else {
            return false;
        };
        let Some(slot) = clock.slots.get_mut(&key) else {
            return true;
        };
        if self.keeps(slot) {
            clock.hand.push_back(key);
        } else if let Some(slot) = clock.slots.remove(&key) {
            self.refund(&slot);
            dropped.push(slot);
        }
        true
    }

    /// Whether the slot stays when the hand visits it.
    fn keeps(&self, slot: &mut Slot<K>) -> bool {
        match &mut slot.object {
            Cached::Evicted(object) => object.strong_count() > 0,
            Cached::Strong { .. } if !self.budget.is_exceeded() => true,
            Cached::Strong { is_used, .. } if *is_used => {
                *is_used = false;
                true
            }
            Cached::Strong { object, .. } => {
                if Arc::strong_count(object) == 1 {
                    return false;
                }
                let weak = Arc::downgrade(object);
                self.refund(slot);
                slot.object = Cached::Evicted(weak);
                true
            }
        }
    }

    fn refund(&self, slot: &Slot<K>) {
        if matches!(slot.object, Cached::Strong { .. }) {
            self.budget.refund(cost(&slot.record));
        }
    }
}

fn cost(record: &Record) -> usize {
    record.byte_len() * EXPANSION
}

impl<K> Drop for DecodedCache<K> {
    fn drop(&mut self) {
        let slots = std::mem::take(&mut self.clock.get_mut().slots);
        #[expect(
            clippy::iter_over_hash_type,
            reason = "a sum does not depend on the order"
        )]
        for slot in slots.values() {
            self.refund(slot);
        }
    }
}

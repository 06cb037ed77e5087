use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;
use parking_lot::Mutex;

use super::Budget;

/// What a decoded object takes, as a multiple of its record: measured on Pods (43 KB against
/// 2.8 KB).
const EXPANSION: usize = 15;

/// The decoded objects of one informer and one type that are at hand.
///
/// A clock: a hand goes round the kept objects, gives those that were used since it last came by
/// another turn, and lets go of the others. What is let go while somebody holds it stays known
/// by a weak reference until the hand finds that nobody does any more; only those may outlive
/// their object, because a weak reference keeps the whole allocation.
#[derive(Debug)]
pub(super) struct Decoded<K> {
    inner: Mutex<Clock<K>>,
    budget: Arc<Budget>,
}

#[derive(Debug)]
struct Clock<K> {
    slots: HashMap<ObjectKey, Slot<K>>,
    /// The order of the hand: its next object in front. May name slots that are gone.
    hand: VecDeque<ObjectKey>,
}

#[derive(Debug)]
struct Slot<K> {
    record: Record,
    object: Held<K>,
}

#[derive(Debug)]
enum Held<K> {
    /// Charged to the budget.
    Kept { object: Arc<K>, used: bool },
    /// Let go, but somebody had it then.
    Lent(Weak<K>),
}

impl<K> Decoded<K> {
    pub(super) fn new(budget: Arc<Budget>) -> Self {
        Self {
            inner: Mutex::new(Clock {
                slots: HashMap::new(),
                hand: VecDeque::new(),
            }),
            budget,
        }
    }

    /// The object decoded from this very record, if it is at hand.
    pub(super) fn find(&self, key: &ObjectKey, record: &Record) -> Option<Arc<K>> {
        let mut clock = self.inner.lock();
        let slot = clock.slots.get_mut(key)?;
        if !slot.record.is_same(record) {
            return None;
        }
        match &mut slot.object {
            Held::Kept { object, used } => {
                *used = true;
                Some(Arc::clone(object))
            }
            Held::Lent(object) => object.upgrade(),
        }
    }

    /// Keeps an object at hand and gives back the one to use: another thread may have been
    /// faster.
    pub(super) fn keep(&self, key: ObjectKey, record: Record, object: K) -> Arc<K> {
        let object = Arc::new(object);
        let cost = cost(&record);
        if cost > self.budget.limit() {
            return object;
        }
        if let Some(present) = self.find(&key, &record) {
            return present;
        }
        // Dropped only after the lock is given back: dropping large objects takes time.
        let mut dropped = Vec::new();
        let mut clock = self.inner.lock();
        let slot = Slot {
            record,
            object: Held::Kept {
                object: Arc::clone(&object),
                used: false,
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
        // Each newcomer moves the hand a little, so that weak references do not gather.
        let mut steps = 2;
        while steps > 0 || self.budget.is_exceeded() {
            steps -= i32::from(steps > 0);
            if !self.turn(&mut clock, &mut dropped) {
                break;
            }
        }
        drop(clock);
        object
    }

    /// Whether these objects take at most half of the budget. Keeping more would push out what is
    /// used often for what is walked over once.
    pub(super) fn has_room_for<'r>(&self, mut records: impl Iterator<Item = &'r Record>) -> bool {
        let half = self.budget.limit() / 2;
        let sum = records.try_fold(0, |sum, record| {
            let sum = sum + cost(record);
            (sum <= half).then_some(sum)
        });
        sum.is_some()
    }

    /// Moves the hand by one object; false when there is none left.
    fn turn(&self, clock: &mut Clock<K>, dropped: &mut Vec<Slot<K>>) -> bool {
        let Some(key) = clock.hand.pop_front() else {
            return false;
        };
        let exceeded = self.budget.is_exceeded();
        let stays = match clock.slots.get_mut(&key).map(|slot| &mut slot.object) {
            None => return true,
            Some(Held::Lent(object)) => object.strong_count() > 0,
            Some(Held::Kept { .. }) if !exceeded => true,
            Some(Held::Kept { used, .. }) if *used => {
                *used = false;
                true
            }
            Some(Held::Kept { object, .. }) => {
                Arc::strong_count(object) > 1 && {
                    let weak = Arc::downgrade(object);
                    let slot = clock.slots.get_mut(&key).expect("found above");
                    self.refund(slot);
                    slot.object = Held::Lent(weak);
                    true
                }
            }
        };
        if stays {
            clock.hand.push_back(key);
        } else if let Some(slot) = clock.slots.remove(&key) {
            self.refund(&slot);
            dropped.push(slot);
        }
        true
    }

    fn refund(&self, slot: &Slot<K>) {
        if matches!(slot.object, Held::Kept { .. }) {
            self.budget.refund(cost(&slot.record));
        }
    }
}

fn cost(record: &Record) -> usize {
    record.byte_len() * EXPANSION
}

impl<K> Drop for Decoded<K> {
    fn drop(&mut self) {
        let slots = std::mem::take(&mut self.inner.get_mut().slots);
        #[expect(
            clippy::iter_over_hash_type,
            reason = "a sum does not depend on the order"
        )]
        for slot in slots.values() {
            self.refund(slot);
        }
    }
}

//! The open connections of a server: how many there may be, and which one is closed for another.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::descriptors;

/// How many connections a server has at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// All connections.
    pub open: usize,
    /// Connections whose client has proven nothing yet: they say nothing, or have not
    /// authenticated.
    pub unproven: usize,
}

impl Limits {
    /// As many connections as this process has descriptors for, of which so many may be unproven.
    pub fn of_process(unproven: usize) -> Self {
        Self {
            open: descriptors::connections(),
            unproven,
        }
    }
}

/// The connections of one server. Clones are handles to the same table.
///
/// A connection that does no work for its client can be closed at any time for a new one: first
/// those that have proven nothing, in each group the one that has been quiet longest. So idle
/// connections, however many, lock nobody out.
#[derive(Clone)]
pub(crate) struct Slots {
    table: Arc<Mutex<Table>>,
    limits: Limits,
    freed: Arc<Notify>,
}

#[derive(Default)]
struct Table {
    open: BTreeMap<u64, Entry>,
    /// Connections without work, in the order in which they would be closed.
    quiet: BTreeMap<Rank, u64>,
    unproven: usize,
    /// Gives each connection its number and each change its place in time.
    counter: u64,
}

/// Unproven connections come first, then those that have been quiet longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_proven: bool,
    since: u64,
}

struct Entry {
    is_proven: bool,
    working: usize,
    /// The rank, while nothing is done for its client.
    quiet: Option<Rank>,
    evicted: CancellationToken,
}

/// The place of one connection, which is free again when this is dropped.
pub(crate) struct Slot {
    activity: Activity,
    evicted: CancellationToken,
}

/// What a connection is doing.
#[derive(Clone)]
pub struct Activity {
    slots: Slots,
    id: u64,
}

/// Work for the client of a connection, which is not closed meanwhile.
pub struct Working {
    activity: Activity,
}

impl Slots {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            table: Arc::default(),
            limits,
            freed: Arc::default(),
        }
    }

    /// A place for a new connection, for which another one may be closed; none when all work.
    pub(crate) fn take(&self) -> Option<Slot> {
        let mut table = self.table.lock();
        if table.unproven >= self.limits.unproven {
            table.evict_if(|rank| !rank.is_proven);
        }
        if table.open.len() >= self.limits.open && !table.evict_if(|_| true) {
            return None;
        }
        let id = table.next();
        let evicted = CancellationToken::new();
        let entry = Entry {
            is_proven: false,
            working: 0,
            quiet: None,
            evicted: evicted.clone(),
        };
        table.open.insert(id, entry);
        table.unproven += 1;
        table.rank(id);
        Some(Slot {
            activity: Activity {
                slots: self.clone(),
                id,
            },
            evicted,
        })
    }

    /// Closes one connection, if there is one without work.
    pub(crate) fn evict(&self) -> bool {
        self.table.lock().evict_if(|_| true)
    }

    /// Waits until a connection has ended or has no more work.
    pub(crate) async fn room(&self) {
        self.freed.notified().await;
    }

    fn with(&self, id: u64, change: impl FnOnce(&mut Entry)) {
        let mut table = self.table.lock();
        // One that is being closed is no longer there.
        let Some(entry) = table.open.get_mut(&id) else {
            return;
        };
        let was_proven = entry.is_proven;
        change(entry);
        table.unproven -= usize::from(!was_proven && table.open[&id].is_proven);
        table.rank(id);
        if table.open[&id].quiet.is_some() {
            self.freed.notify_one();
        }
    }
}

impl Table {
    fn next(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    /// Brings the rank of a connection up to date.
    fn rank(&mut self, id: u64) {
        let since = self.next();
        let Some(entry) = self.open.get_mut(&id) else {
            return;
        };
        if let Some(rank) = entry.quiet.take() {
            self.quiet.remove(&rank);
        }
        if entry.working == 0 {
            let rank = Rank {
                is_proven: entry.is_proven,
                since,
            };
            entry.quiet = Some(rank);
            self.quiet.insert(rank, id);
        }
    }

    /// Closes the first of the quiet connections, if it is one that may be closed.
    fn evict_if(&mut self, may_be: impl Fn(Rank) -> bool) -> bool {
        let first = self.quiet.first_key_value();
        let Some((_, id)) = first.filter(|(rank, _)| may_be(**rank)) else {
            return false;
        };
        let id = *id;
        if let Some(entry) = self.open.get(&id) {
            entry.evicted.cancel();
        }
        self.remove(id);
        true
    }

    fn remove(&mut self, id: u64) {
        let Some(entry) = self.open.remove(&id) else {
            return;
        };
        self.unproven -= usize::from(!entry.is_proven);
        if let Some(rank) = entry.quiet {
            self.quiet.remove(&rank);
        }
    }
}

impl Slot {
    pub(crate) fn activity(&self) -> &Activity {
        &self.activity
    }

    /// Waits until the connection has to make room for another.
    pub(crate) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let slots = &self.activity.slots;
        slots.table.lock().remove(self.activity.id);
        slots.freed.notify_one();
    }
}

impl Activity {
    /// The client is one that the server knows: it has authenticated, or asked what it may ask.
    pub fn prove(&self) {
        let is_known = |table: &Table| table.open.get(&self.id).is_none_or(|entry| entry.is_proven);
        if !is_known(&self.slots.table.lock()) {
            self.slots.with(self.id, |entry| entry.is_proven = true);
        }
    }

    /// Work begins for the client; the connection stays until the value is dropped.
    pub fn begin(&self) -> Working {
        self.slots.with(self.id, |entry| entry.working += 1);
        Working {
            activity: self.clone(),
        }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        let Activity { slots, id } = &self.activity;
        slots.with(*id, |entry| entry.working -= 1);
    }
}

/// The body of a response whose connection works until it is sent.
#[derive(Debug)]
pub struct WorkingBody<B> {
    body: B,
    _working: Option<Working>,
}

impl<B> WorkingBody<B> {
    /// The body, which ends the work.
    pub fn new(body: B, working: Working) -> Self {
        Self {
            body,
            _working: Some(working),
        }
    }
}

/// A body for which no work is done any more.
impl<B> From<B> for WorkingBody<B> {
    fn from(body: B) -> Self {
        Self {
            body,
            _working: None,
        }
    }
}

impl<B: Body + Unpin> Body for WorkingBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl fmt::Debug for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Activity").field(&self.id).finish()
    }
}

impl fmt::Debug for Working {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Working").field(&self.activity.id).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, Slot, Slots};

    fn slots(open: usize, unproven: usize) -> Slots {
        Slots::new(Limits { open, unproven })
    }

    fn is_closed(slot: &Slot) -> bool {
        slot.evicted.is_cancelled()
    }

    #[test]
    fn longest_quiet_unproven_connection_is_closed_for_a_new_one() {
        let slots = slots(100, 2);
        let [first, second] = [slots.take().unwrap(), slots.take().unwrap()];
        let third = slots.take().unwrap();
        assert!(is_closed(&first) && !is_closed(&second) && !is_closed(&third));
        // A proven one is left alone, and makes room for an unproven one.
        second.activity().prove();
        let fourth = slots.take().unwrap();
        let fifth = slots.take().unwrap();
        assert!(!is_closed(&second) && is_closed(&third));
        assert!(!is_closed(&fourth) && !is_closed(&fifth));
    }

    #[test]
    fn connection_that_works_is_not_closed() {
        let slots = slots(2, 2);
        let [first, second] = [slots.take().unwrap(), slots.take().unwrap()];
        let work = first.activity().begin();
        let twice = first.activity().begin();
        drop(twice);
        let third = slots.take().unwrap();
        assert!(!is_closed(&first) && is_closed(&second));
        let busy = third.activity().begin();
        assert!(slots.take().is_none());
        drop(work);
        let fourth = slots.take();
        assert!(fourth.is_some() && is_closed(&first));
        drop(busy);
    }

    #[test]
    fn proven_connections_are_closed_last_and_by_their_last_use() {
        let slots = slots(3, 3);
        let all: Vec<Slot> = (0..3).filter_map(|_| slots.take()).collect();
        for slot in &all[..2] {
            slot.activity().prove();
        }
        // Used again after the other.
        drop(all[0].activity().begin());
        let fourth = slots.take().unwrap();
        assert!(is_closed(&all[2]));
        fourth.activity().prove();
        let fifth = slots.take().unwrap();
        assert!(is_closed(&all[1]) && !is_closed(&all[0]));
        drop(fifth);
    }

    #[test]
    fn what_ends_is_forgotten() {
        let slots = slots(2, 2);
        for _ in 0..10 {
            let slot = slots.take().unwrap();
            let work = slot.activity().begin();
            slot.activity().prove();
            drop(slot);
            drop(work);
        }
        let table = slots.table.lock();
        assert!(table.open.is_empty() && table.quiet.is_empty());
        assert_eq!(table.unproven, 0);
    }

    #[tokio::test]
    async fn room_is_told_when_work_ends() {
        let slots = slots(1, 1);
        let slot = slots.take().unwrap();
        let work = slot.activity().begin();
        assert!(slots.take().is_none());
        drop(work);
        slots.room().await;
        assert!(slots.take().is_some());
    }
}

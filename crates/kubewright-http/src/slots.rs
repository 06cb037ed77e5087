//! The open connections of a server: their limits, and which one is closed for a new one.

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

/// The most connections of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// All connections.
    pub open: usize,
    /// Connections on which no request has authenticated yet.
    pub untrusted: usize,
}

impl Limits {
    /// As many connections as this process has descriptors for.
    pub fn of_process(untrusted: usize) -> Self {
        Self {
            open: descriptors::connections(),
            untrusted,
        }
    }
}

/// The connections of one server. Clones are handles to the same table.
///
/// A connection without a request in flight can be closed at any time for a new one: untrusted
/// connections first, and of these the one that has been idle longest. So idle connections, however
/// many, do not prevent other clients from connecting.
#[derive(Clone)]
pub(crate) struct Slots {
    table: Arc<Mutex<Table>>,
    limits: Limits,
    freed: Arc<Notify>,
}

#[derive(Default)]
struct Table {
    open: BTreeMap<u64, Entry>,
    /// Idle connections, in the order in which they are evicted.
    idle: BTreeMap<Rank, u64>,
    untrusted: usize,
    /// The source of connection ids, and of the times in ranks.
    counter: u64,
}

/// The order of eviction: untrusted connections first, then those that have been idle longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_trusted: bool,
    since: u64,
}

struct Entry {
    is_trusted: bool,
    in_flight: usize,
    /// The rank, while no request is in flight.
    idle: Option<Rank>,
    evicted: CancellationToken,
}

/// The slot of one connection, which is freed on drop.
pub(crate) struct Slot {
    activity: Activity,
    evicted: CancellationToken,
}

/// Records what happens on a connection, to decide whether it can be evicted.
#[derive(Clone)]
pub struct Activity {
    slots: Slots,
    id: u64,
}

/// A request in flight. Its connection is not evicted until this is dropped.
pub struct InFlight {
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

    /// A slot for a new connection, for which an idle one may be evicted; `None` when all
    /// connections have requests in flight.
    pub(crate) fn take(&self) -> Option<Slot> {
        let mut table = self.table.lock();
        if table.untrusted >= self.limits.untrusted {
            table.evict_if(|rank| !rank.is_trusted);
        }
        if table.open.len() >= self.limits.open && !table.evict_if(|_| true) {
            return None;
        }
        let id = table.next();
        let evicted = CancellationToken::new();
        let entry = Entry {
            is_trusted: false,
            in_flight: 0,
            idle: None,
            evicted: evicted.clone(),
        };
        table.open.insert(id, entry);
        table.untrusted += 1;
        table.rank(id);
        Some(Slot {
            activity: Activity {
                slots: self.clone(),
                id,
            },
            evicted,
        })
    }

    /// Closes one idle connection, if there is one.
    pub(crate) fn evict(&self) -> bool {
        self.table.lock().evict_if(|_| true)
    }

    /// Waits until a connection has ended or has become idle.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }

    fn update(&self, id: u64, change: impl FnOnce(&mut Entry)) {
        let mut table = self.table.lock();
        // An evicted connection may still be closing.
        let Some(entry) = table.open.get_mut(&id) else {
            return;
        };
        let was_trusted = entry.is_trusted;
        change(entry);
        table.untrusted -= usize::from(!was_trusted && table.open[&id].is_trusted);
        table.rank(id);
        if table.open[&id].idle.is_some() {
            self.freed.notify_one();
        }
    }
}

impl Table {
    fn next(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    /// Updates the rank of a connection.
    fn rank(&mut self, id: u64) {
        let since = self.next();
        let Some(entry) = self.open.get_mut(&id) else {
            return;
        };
        if let Some(rank) = entry.idle.take() {
            self.idle.remove(&rank);
        }
        if entry.in_flight == 0 {
            let rank = Rank {
                is_trusted: entry.is_trusted,
                since,
            };
            entry.idle = Some(rank);
            self.idle.insert(rank, id);
        }
    }

    /// Closes the idle connection that is first in the order of eviction, if the condition holds
    /// for it.
    fn evict_if(&mut self, condition: impl Fn(Rank) -> bool) -> bool {
        let first = self.idle.first_key_value();
        let Some((_, &id)) = first.filter(|(rank, _)| condition(**rank)) else {
            return false;
        };
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
        self.untrusted -= usize::from(!entry.is_trusted);
        if let Some(rank) = entry.idle {
            self.idle.remove(&rank);
        }
    }
}

impl Slot {
    pub(crate) fn activity(&self) -> &Activity {
        &self.activity
    }

    /// Waits until the connection is evicted.
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
    /// Marks the connection as trusted: its client has authenticated, or has sent a valid request
    /// where none is required to.
    pub fn trust(&self) {
        let is_trusted = |table: &Table| {
            table
                .open
                .get(&self.id)
                .is_none_or(|entry| entry.is_trusted)
        };
        if !is_trusted(&self.slots.table.lock()) {
            self.slots.update(self.id, |entry| entry.is_trusted = true);
        }
    }

    /// Begins a request. The connection is not evicted until the returned value is dropped.
    pub fn begin(&self) -> InFlight {
        self.slots.update(self.id, |entry| entry.in_flight += 1);
        InFlight {
            activity: self.clone(),
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let Activity { slots, id } = &self.activity;
        slots.update(*id, |entry| entry.in_flight -= 1);
    }
}

/// The body of a response whose request is in flight until the body is sent.
#[derive(Debug)]
pub struct InFlightBody<B> {
    body: B,
    _in_flight: Option<InFlight>,
}

impl<B> InFlightBody<B> {
    /// A body that ends the request when it is dropped.
    pub fn new(body: B, in_flight: InFlight) -> Self {
        Self {
            body,
            _in_flight: Some(in_flight),
        }
    }
}

/// A body without a request in flight.
impl<B> From<B> for InFlightBody<B> {
    fn from(body: B) -> Self {
        Self {
            body,
            _in_flight: None,
        }
    }
}

impl<B: Body + Unpin> Body for InFlightBody<B> {
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

impl fmt::Debug for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InFlight").field(&self.activity.id).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, Slot, Slots};

    fn slots(open: usize, untrusted: usize) -> Slots {
        Slots::new(Limits { open, untrusted })
    }

    fn is_closed(slot: &Slot) -> bool {
        slot.evicted.is_cancelled()
    }

    #[test]
    fn longest_idle_untrusted_connection_is_evicted_for_a_new_one() {
        let slots = slots(100, 2);
        let [first, second] = [slots.take().unwrap(), slots.take().unwrap()];
        let third = slots.take().unwrap();
        assert!(is_closed(&first) && !is_closed(&second) && !is_closed(&third));
        // A trusted connection is not evicted, and no longer counts as untrusted.
        second.activity().trust();
        let fourth = slots.take().unwrap();
        let fifth = slots.take().unwrap();
        assert!(!is_closed(&second) && is_closed(&third));
        assert!(!is_closed(&fourth) && !is_closed(&fifth));
    }

    #[test]
    fn connection_with_a_request_in_flight_is_not_evicted() {
        let slots = slots(2, 2);
        let [first, second] = [slots.take().unwrap(), slots.take().unwrap()];
        let request = first.activity().begin();
        let another = first.activity().begin();
        drop(another);
        let third = slots.take().unwrap();
        assert!(!is_closed(&first) && is_closed(&second));
        let on_third = third.activity().begin();
        assert!(slots.take().is_none());
        drop(request);
        let fourth = slots.take();
        assert!(fourth.is_some() && is_closed(&first));
        drop(on_third);
    }

    #[test]
    fn trusted_connections_are_evicted_last_in_the_order_of_their_last_use() {
        let slots = slots(3, 3);
        let all: Vec<Slot> = (0..3).filter_map(|_| slots.take()).collect();
        for slot in &all[..2] {
            slot.activity().trust();
        }
        // The first is used after the second.
        drop(all[0].activity().begin());
        let fourth = slots.take().unwrap();
        assert!(is_closed(&all[2]));
        fourth.activity().trust();
        let fifth = slots.take().unwrap();
        assert!(is_closed(&all[1]) && !is_closed(&all[0]));
        drop(fifth);
    }

    #[test]
    fn closed_connections_leave_the_table() {
        let slots = slots(2, 2);
        for _ in 0..10 {
            let slot = slots.take().unwrap();
            let request = slot.activity().begin();
            slot.activity().trust();
            drop(slot);
            drop(request);
        }
        let table = slots.table.lock();
        assert!(table.open.is_empty() && table.idle.is_empty());
        assert_eq!(table.untrusted, 0);
    }

    #[tokio::test]
    async fn end_of_a_request_frees_its_connection_for_eviction() {
        let slots = slots(1, 1);
        let slot = slots.take().unwrap();
        let request = slot.activity().begin();
        assert!(slots.take().is_none());
        drop(request);
        slots.freed().await;
        assert!(slots.take().is_some());
    }
}

//! The faults that a test injects, and the requests that operators have sent.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kubewright_wire::route::ResourceRoute;
use parking_lot::Mutex;

use super::fault::{Effect, is_write};
use super::watch_body::{OpenWatch, WatchEnd};
use super::{Fault, Injected};

/// The faults for the operators under test, their open watches and their writes.
///
/// Clones share their state.
#[derive(Clone, Default)]
pub(crate) struct FaultInjector {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    faults: Vec<PendingFault>,
    watches: Vec<OpenWatch>,
    writes: Vec<String>,
    /// Whether all requests fail.
    has_outage: bool,
}

/// An injected fault, and how many requests matched it.
struct PendingFault {
    fault: Fault,
    matched: usize,
    count: Arc<AtomicUsize>,
}

impl FaultInjector {
    pub(crate) fn inject(&self, fault: Fault) -> Injected {
        let count = Arc::new(AtomicUsize::new(0));
        let injected = Injected {
            name: fault.to_string(),
            count: Arc::clone(&count),
        };
        let pending = PendingFault {
            fault,
            matched: 0,
            count,
        };
        self.state.lock().faults.push(pending);
        injected
    }

    /// Removes all faults, and returns those that happened less often than they should.
    pub(crate) fn take_not_triggered(&self) -> Vec<String> {
        let faults = std::mem::take(&mut self.state.lock().faults);
        faults
            .iter()
            .filter(|pending| !pending.is_spent())
            .map(|pending| pending.fault.to_string())
            .collect()
    }

    /// Closes all connections, and fails all requests until the returned value is dropped.
    pub(crate) fn start_outage(&self) -> Outage {
        let mut state = self.state.lock();
        state.has_outage = true;
        for watch in std::mem::take(&mut state.watches) {
            watch.end(WatchEnd::Cut);
        }
        Outage {
            injector: self.clone(),
        }
    }

    pub(super) fn has_outage(&self) -> bool {
        self.state.lock().has_outage
    }

    /// The writes so far: verb, resource and object.
    pub(crate) fn writes(&self) -> Vec<String> {
        self.state.lock().writes.clone()
    }

    /// Ends the open watches of a resource and returns how many there were.
    pub(crate) fn end_watches(&self, resource: &str, end: WatchEnd) -> usize {
        let mut state = self.state.lock();
        state.watches.retain(OpenWatch::is_open);
        let watches = state.watches.iter();
        watches
            .filter(|watch| watch.resource() == resource)
            .map(|watch| watch.end(end))
            .count()
    }

    pub(super) fn add_watch(&self, watch: OpenWatch) {
        let mut state = self.state.lock();
        state.watches.retain(OpenWatch::is_open);
        state.watches.push(watch);
    }

    /// The effect on a request: that of the first fault that matches it.
    pub(super) fn decide(&self, route: &ResourceRoute) -> Option<Effect> {
        let mut state = self.state.lock();
        if is_write(route) {
            let name = route.name.as_deref().unwrap_or_default();
            let namespace = route.namespace.as_deref().unwrap_or_default();
            let (verb, resource) = (route.verb, route.rule_resource());
            let write = format!("{verb} {resource} {namespace}/{name}");
            state.writes.push(write);
        }
        let mut faults = state.faults.iter_mut();
        faults.find_map(|pending| pending.decide(route))
    }
}

/// All requests fail until it is dropped.
#[derive(Debug)]
pub(crate) struct Outage {
    injector: FaultInjector,
}

impl Drop for Outage {
    fn drop(&mut self) {
        self.injector.state.lock().has_outage = false;
    }
}

impl PendingFault {
    fn decide(&mut self, route: &ResourceRoute) -> Option<Effect> {
        if self.is_spent() || !self.fault.matches(route) {
            return None;
        }
        self.matched += 1;
        if self.matched <= self.fault.skip {
            return None;
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        Some(self.fault.effect.clone())
    }

    fn is_spent(&self) -> bool {
        self.count.load(Ordering::Relaxed) >= self.fault.times
    }
}

impl fmt::Debug for FaultInjector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultInjector").finish_non_exhaustive()
    }
}

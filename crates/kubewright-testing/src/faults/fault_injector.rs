use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kubewright_wire::route::ResourceRoute;
use parking_lot::Mutex;

use super::fault::{Effect, is_write};
use super::watch_body::{Ending, OpenWatch};
use super::{Fault, Injected};

/// What is to go wrong for the operators under test, and what they have written.
///
/// Clones are handles to the same script.
#[derive(Clone, Default)]
pub(crate) struct Script {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    faults: Vec<Pending>,
    watches: Vec<OpenWatch>,
    writes: Vec<String>,
    /// Whether the API server answers nobody.
    is_away: bool,
}

/// A fault, and how far it is.
struct Pending {
    fault: Fault,
    seen: usize,
    met: Arc<AtomicUsize>,
}

impl Script {
    pub(crate) fn inject(&self, fault: Fault) -> Injected {
        let met = Arc::new(AtomicUsize::new(0));
        let injected = Injected {
            name: fault.to_string(),
            met: Arc::clone(&met),
        };
        let pending = Pending {
            fault,
            seen: 0,
            met,
        };
        self.state.lock().faults.push(pending);
        injected
    }

    /// The faults that did not happen as often as they should; all are forgotten.
    pub(crate) fn take_unmet(&self) -> Vec<String> {
        let faults = std::mem::take(&mut self.state.lock().faults);
        let unmet = faults.iter().filter(|one| !one.is_spent());
        unmet.map(|one| one.fault.to_string()).collect()
    }

    /// Breaks all connections and lets nobody connect until the answer is dropped.
    pub(crate) fn go_away(&self) -> Away {
        let mut state = self.state.lock();
        state.is_away = true;
        for watch in std::mem::take(&mut state.watches) {
            watch.end(Ending::Cut);
        }
        Away {
            script: self.clone(),
        }
    }

    pub(super) fn is_away(&self) -> bool {
        self.state.lock().is_away
    }

    /// What was written so far: verb, resource and object.
    pub(crate) fn writes(&self) -> Vec<String> {
        self.state.lock().writes.clone()
    }

    /// Ends the watches of a resource that are open; says how many there were.
    pub(crate) fn end_watches(&self, resource: &str, ending: Ending) -> usize {
        let mut state = self.state.lock();
        state.watches.retain(OpenWatch::is_open);
        let of_it = state
            .watches
            .iter()
            .filter(|one| one.resource() == resource);
        of_it.map(|one| one.end(ending)).count()
    }

    pub(super) fn add_watch(&self, watch: OpenWatch) {
        let mut state = self.state.lock();
        state.watches.retain(OpenWatch::is_open);
        state.watches.push(watch);
    }

    /// What happens to a request; the first fault that is meant for it decides.
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

/// While it is held, the API server answers nobody.
#[derive(Debug)]
pub(crate) struct Away {
    script: Script,
}

impl Drop for Away {
    fn drop(&mut self) {
        self.script.state.lock().is_away = false;
    }
}

impl Pending {
    fn decide(&mut self, route: &ResourceRoute) -> Option<Effect> {
        if self.is_spent() || !self.fault.is_for(route) {
            return None;
        }
        self.seen += 1;
        if self.seen <= self.fault.skip {
            return None;
        }
        self.met.fetch_add(1, Ordering::Relaxed);
        Some(self.fault.effect.clone())
    }

    fn is_spent(&self) -> bool {
        self.met.load(Ordering::Relaxed) >= self.fault.times
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").finish_non_exhaustive()
    }
}

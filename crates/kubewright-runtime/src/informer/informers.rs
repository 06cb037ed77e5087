//! The informers of a process.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use kube::Client;
use kubewright_core::Scope;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::handle::{Informer, WeakInformer};
use super::keep_alive::KeepAlive;
use super::memory_budget::MemoryBudget;
use super::namespaced::NamespacedReflectors;
use super::sink::InformerSink;
use super::state::InformerState;
use super::stats::{InformerStatus, with_lags};
use crate::NamespaceSet;
use crate::reflector::{Content, InformerSpec, Reflector, ReflectorOptions};

/// The options of a set of informers.
#[derive(Clone, Debug, Default)]
pub struct InformerOptions {
    /// How the informers list and watch.
    pub reflector: ReflectorOptions,
    /// The number of bytes of decoded objects that all views together cache. None derives it from
    /// the memory limit of the process.
    pub decoded_bytes: Option<usize>,
    /// The namespaces to read. Each is listed and watched on its own, so that no cluster-wide
    /// permission is needed. None reads all namespaces.
    pub namespaces: Option<NamespaceSet>,
}

/// The informers of a process: one per [`InformerSpec`] in use, each with a task that belongs to
/// the set. Clones share it.
#[derive(Clone)]
pub struct Informers {
    shared: Arc<InformerSet>,
}

struct InformerSet {
    client: Client,
    options: InformerOptions,
    budget: Arc<MemoryBudget>,
    informers: Mutex<HashMap<InformerSpec, WeakInformer>>,
    tasks: TaskTracker,
    cancel: CancellationToken,
}

impl InformerSet {
    /// Removes an informer that is no longer in use.
    fn remove_unused(&self, spec: &InformerSpec) {
        let mut informers = self.informers.lock();
        // A new informer can have been added for the spec in the meantime.
        if informers
            .get(spec)
            .is_some_and(|informer| !informer.is_in_use())
        {
            informers.remove(spec);
        }
    }
}

impl Informers {
    /// An empty set that reads through `client`.
    pub fn new(client: Client, options: InformerOptions) -> Self {
        let budget = match options.decoded_bytes {
            Some(bytes) => MemoryBudget::new(bytes),
            None => MemoryBudget::of_this_process(),
        };
        Self {
            shared: Arc::new(InformerSet {
                client,
                options,
                budget: Arc::new(budget),
                informers: Mutex::default(),
                tasks: TaskTracker::new(),
                cancel: CancellationToken::new(),
            }),
        }
    }

    /// The informer for `spec`, which the first call starts. It stops when its last clone, view and
    /// subscription is dropped. After [`Informers::shutdown`] it is returned but stopped.
    ///
    /// Where `spec` selects some fields and an informer of the whole objects is running, that
    /// informer is returned, so that no object is read twice.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, when it has to be started.
    pub fn get(&self, spec: &InformerSpec) -> Informer {
        let mut informers = self.shared.informers.lock();
        let running = |spec: &InformerSpec| informers.get(spec).and_then(WeakInformer::upgrade);
        let whole = || match spec.content {
            Content::Whole => None,
            _ => running(&spec.clone().with_content(Content::Whole)),
        };
        if let Some(informer) = running(spec).or_else(whole) {
            return informer;
        }
        let informer = self.create(spec);
        informers.insert(spec.clone(), informer.downgrade());
        // Released before a panic of `start` can drop the informer, which locks it again.
        drop(informers);
        self.start(&informer);
        informer
    }

    /// The informers that are in use.
    pub fn all(&self) -> Vec<Informer> {
        let informers = self.shared.informers.lock();
        let mut all: Vec<Informer> = informers
            .values()
            .filter_map(WeakInformer::upgrade)
            .collect();
        drop(informers);
        all.sort_by(|left, right| left.spec().resource.cmp(&right.spec().resource));
        all
    }

    /// The status of the informers that are in use.
    pub fn stats(&self) -> Vec<InformerStatus> {
        with_lags(self.all().iter().map(Informer::status).collect())
    }

    /// Stops all informers and waits for their tasks. Their stores stay readable.
    ///
    /// # Cancel safety
    ///
    /// The informers stop even if the future is dropped.
    pub async fn shutdown(&self) {
        self.shared.cancel.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    /// The namespaces to which an informer is restricted.
    fn namespaces_of(&self, spec: &InformerSpec) -> Option<NamespaceSet> {
        let is_everywhere = spec.namespace.is_none() && spec.resource.scope == Scope::Namespaced;
        let namespaces = self.shared.options.namespaces.as_ref();
        namespaces.filter(|_| is_everywhere).cloned()
    }

    fn create(&self, spec: &InformerSpec) -> Informer {
        let state = InformerState::new(
            spec.clone(),
            self.namespaces_of(spec),
            &self.shared.options.reflector,
            Arc::clone(&self.shared.budget),
        );
        let set = Arc::downgrade(&self.shared);
        let released = spec.clone();
        let keep_alive = KeepAlive::new(self.shared.cancel.child_token(), move || {
            if let Some(set) = set.upgrade() {
                set.remove_unused(&released);
            }
        });
        Informer::new(state, keep_alive)
    }

    fn start(&self, informer: &Informer) {
        let (client, spec) = (self.shared.client.clone(), informer.spec().clone());
        let options = self.shared.options.reflector.clone();
        let stop = informer.keep_alive().stop().clone();
        let mut sink = InformerSink::new(Arc::clone(informer.state()));
        if let Some(namespaces) = self.namespaces_of(&spec) {
            let reflectors = NamespacedReflectors {
                client,
                spec,
                options,
                sink,
            };
            self.shared.tasks.spawn(reflectors.run(namespaces, stop));
            return;
        }
        let reflector = Reflector::new(client, spec, options);
        self.shared.tasks.spawn(async move {
            reflector.run(&mut sink, &stop).await;
            sink.stop();
        });
    }
}

/// The tasks end with the last handle of the set.
impl Drop for InformerSet {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl fmt::Debug for Informers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informers")
            .field("informers", &self.shared.informers.lock().len())
            .finish_non_exhaustive()
    }
}

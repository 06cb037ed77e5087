use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use kube::Client;
use kubewright_core::Scope;
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::lease::Lease;
use super::parts::Parts;
use super::stats::with_lags;
use super::{Informer, InformerSpec, InformerStatus, handle};
use crate::NamespaceSet;
use crate::cache::{Budget, View};
use crate::reflector::{Content, Reflector, ReflectorOptions};

/// How the informers of a set work.
#[derive(Clone, Debug, Default)]
pub struct InformerOptions {
    /// How they read.
    pub reflector: ReflectorOptions,
    /// How many bytes of decoded objects they keep at hand, all together; none follows the
    /// process's memory limit.
    pub decoded_bytes: Option<usize>,
    /// Only in these namespaces: each is read for itself, so that no right for the whole cluster
    /// is needed. None means all.
    pub namespaces: Option<NamespaceSet>,
}

/// The informers of a process: one per [`InformerSpec`] that somebody uses, each with a task that
/// belongs to the set. Cloning shares it.
#[derive(Clone)]
pub struct Informers {
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    client: Client,
    options: InformerOptions,
    budget: Arc<Budget>,
    informers: Mutex<HashMap<InformerSpec, Entry>>,
    tasks: TaskTracker,
    cancel: CancellationToken,
}

/// An informer that is there as long as somebody else holds its lease.
struct Entry {
    shared: Arc<handle::Shared>,
    lease: Weak<Lease>,
}

impl Entry {
    fn informer(&self) -> Option<Informer> {
        Some(Informer::new(
            Arc::clone(&self.shared),
            self.lease.upgrade()?,
        ))
    }
}

impl Shared {
    /// Drops an informer that nobody uses any more.
    pub(super) fn forget(&self, spec: &InformerSpec) {
        let mut informers = self.informers.lock();
        // Another may have taken its place meanwhile.
        if informers
            .get(spec)
            .is_some_and(|entry| entry.lease.strong_count() == 0)
        {
            informers.remove(spec);
        }
    }
}

impl Informers {
    /// An empty set that reads through `client`.
    pub fn new(client: Client, options: InformerOptions) -> Self {
        let budget = match options.decoded_bytes {
            Some(bytes) => Budget::new(bytes),
            None => Budget::of_this_process(),
        };
        Self {
            shared: Arc::new(Shared {
                client,
                options,
                budget: Arc::new(budget),
                informers: Mutex::default(),
                tasks: TaskTracker::new(),
                cancel: CancellationToken::new(),
            }),
        }
    }

    /// The informer for `spec`, started with the first call for it. It stops with its last user:
    /// clone, view or subscription. After [`Informers::shutdown`] it is there but stopped.
    ///
    /// Where only some fields are asked for and the whole objects are followed already, the
    /// informer of those is given, so that nothing is read twice.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, when it has to be started.
    pub fn get(&self, spec: &InformerSpec) -> Informer {
        let mut informers = self.shared.informers.lock();
        let present = |spec: &InformerSpec| informers.get(spec).and_then(Entry::informer);
        let whole = || match spec.content {
            Content::Whole => None,
            _ => present(&spec.clone().keeping(Content::Whole)),
        };
        if let Some(informer) = present(spec).or_else(whole) {
            return informer;
        }
        let lease = Arc::new(Lease {
            spec: spec.clone(),
            stop: self.shared.cancel.child_token(),
            set: Arc::downgrade(&self.shared),
        });
        let within = self.within(spec);
        let budget = Arc::clone(&self.shared.budget);
        let reflector = &self.shared.options.reflector;
        let shared = handle::Shared::new(spec.clone(), within, reflector, budget);
        let informer = Informer::new(Arc::new(shared), lease);
        let entry = Entry {
            shared: Arc::clone(informer.shared()),
            lease: Arc::downgrade(informer.lease()),
        };
        informers.insert(spec.clone(), entry);
        self.start(&informer);
        informer
    }

    /// A view of the objects as values of type `T`, which may be a struct with some of their
    /// fields, or [`Metadata`](crate::cache::Metadata): no more than it reads is kept.
    ///
    /// ```no_run
    /// # use kubewright_core::{Kind, Resource, Scope};
    /// use kubewright_runtime::informer::{InformerSpec, Informers};
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// struct Placed {
    ///     spec: Placement,
    /// }
    /// #[derive(Deserialize)]
    /// #[serde(rename_all = "camelCase")]
    /// struct Placement {
    ///     node_name: Option<String>,
    /// }
    ///
    /// # async fn run(informers: Informers) -> Result<(), Box<dyn std::error::Error>> {
    /// let pods = Resource::new(Kind::new("", "v1", "Pod"), "pods", Scope::Namespaced);
    /// let placed = informers.view::<Placed>(&InformerSpec::all(pods));
    /// placed.informer().synced().await?;
    /// let nodes = placed.list().iter().filter(|pod| pod.spec.node_name.is_some()).count();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// As [`Informers::get`].
    pub fn view<T: DeserializeOwned + Send + Sync + 'static>(
        &self,
        spec: &InformerSpec,
    ) -> View<T> {
        View::new(self.get(&spec.clone().keeping(Content::of::<T>())))
    }

    /// The informers that are in use.
    pub fn all(&self) -> Vec<Informer> {
        let informers = self.shared.informers.lock();
        let mut all: Vec<Informer> = informers.values().filter_map(Entry::informer).collect();
        drop(informers);
        all.sort_by(|one, other| one.spec().resource.cmp(&other.spec().resource));
        all
    }

    /// How the informers are that are in use.
    pub fn stats(&self) -> Vec<InformerStatus> {
        with_lags(self.all().iter().map(Informer::status).collect())
    }

    /// Stops all informers and waits for their tasks. Their stores stay readable.
    ///
    /// # Cancel safety
    ///
    /// Dropped, they stop all the same.
    pub async fn shutdown(&self) {
        self.shared.cancel.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    /// The namespaces that an informer is restricted to.
    fn within(&self, spec: &InformerSpec) -> Option<NamespaceSet> {
        let is_everywhere = spec.namespace.is_none() && spec.resource.scope == Scope::Namespaced;
        let namespaces = self.shared.options.namespaces.as_ref();
        namespaces.filter(|_| is_everywhere).cloned()
    }

    fn start(&self, informer: &Informer) {
        if let Some(namespaces) = self.within(informer.spec()) {
            let parts = Parts {
                client: self.shared.client.clone(),
                spec: informer.spec().clone(),
                options: self.shared.options.reflector.clone(),
                feed: informer.feed(),
            };
            let stop = informer.lease().stop.clone();
            self.shared.tasks.spawn(parts.follow(namespaces, stop));
            return;
        }
        let reflector = Reflector::new(
            self.shared.client.clone(),
            informer.spec().clone(),
            self.shared.options.reflector.clone(),
        );
        let stop = informer.lease().stop.clone();
        let mut feed = informer.feed();
        self.shared.tasks.spawn(async move {
            reflector.run(&mut feed, &stop).await;
            feed.stop();
        });
    }
}

/// With the last handle of the set its tasks end as well.
impl Drop for Shared {
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

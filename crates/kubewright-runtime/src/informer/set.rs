use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use kube::Client;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Informer, InformerSpec};
use crate::cache::Budget;
use crate::reflector::{Reflector, ReflectorOptions};

/// How the informers of a set work.
#[derive(Clone, Debug, Default)]
pub struct InformerOptions {
    /// How they read.
    pub reflector: ReflectorOptions,
    /// How many bytes of decoded objects they keep at hand, all together; none follows the
    /// process's memory limit.
    pub decoded_bytes: Option<usize>,
}

/// The informers of a process: one per [`InformerSpec`], each with a task that belongs to the
/// set. Cloning shares it.
#[derive(Clone)]
pub struct Informers {
    shared: Arc<Shared>,
}

struct Shared {
    client: Client,
    options: InformerOptions,
    budget: Arc<Budget>,
    informers: Mutex<HashMap<InformerSpec, Informer>>,
    tasks: TaskTracker,
    cancel: CancellationToken,
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

    /// The informer for `spec`, started with the first call for it. It runs until
    /// [`Informers::shutdown`]; after that it is there but stopped.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, when it has to be started.
    pub fn get(&self, spec: &InformerSpec) -> Informer {
        let mut informers = self.shared.informers.lock();
        if let Some(informer) = informers.get(spec) {
            return informer.clone();
        }
        let informer = Informer::new(spec.clone(), Arc::clone(&self.shared.budget));
        informers.insert(spec.clone(), informer.clone());
        self.start(informer.clone());
        informer
    }

    /// The informers that have been asked for.
    pub fn all(&self) -> Vec<Informer> {
        let mut all: Vec<Informer> = self.shared.informers.lock().values().cloned().collect();
        all.sort_by(|one, other| one.spec().resource.cmp(&other.spec().resource));
        all
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

    fn start(&self, informer: Informer) {
        let reflector = Reflector::new(
            self.shared.client.clone(),
            informer.spec().clone(),
            self.shared.options.reflector.clone(),
        );
        let cancel = self.shared.cancel.clone();
        self.shared.tasks.spawn(async move {
            reflector.run(&mut informer.feed(), &cancel).await;
            informer.stop();
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

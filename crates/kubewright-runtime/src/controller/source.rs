//! Sources of keys: the events of an informer, or a stream.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, Stream, StreamExt as _};
use kubewright_core::ObjectKey;
use tokio::sync::oneshot;

use super::Mapper;
use super::handle::Handle;
use crate::informer::{ChangeEvent, Informer, Notification};
use crate::panic_message::panic_message;
use crate::queue::{AddOptions, Priority};
use crate::reconcile_loop::Trigger;
use crate::record::Record;
use crate::store::Store;

/// A source of keys for a controller's queue: the events of an informer, or a stream.
pub struct Source {
    feed: Feed,
    /// The objects to enqueue when the keys of an event are not known.
    fallback: Option<Store>,
    priority: Priority,
    debounce: Duration,
}

enum Feed {
    Informer {
        informer: Informer,
        mapper: Mapper,
    },
    Stream {
        name: Arc<str>,
        keys: BoxStream<'static, Vec<ObjectKey>>,
    },
    /// Enqueues nothing.
    ReadOnly(Informer),
}

impl Source {
    /// A source that enqueues the keys that `mapper` returns for each event of `informer`. Its
    /// initial state is delivered when each object of the first list was mapped.
    pub fn new(informer: Informer, mapper: Mapper) -> Self {
        Self::of(Feed::Informer { informer, mapper })
    }

    /// A source that enqueues the keys in each item of a stream. It has no initial state to wait
    /// for, and ends with the stream. `name` is for the log.
    pub fn stream(
        name: impl Into<Arc<str>>,
        keys: impl Stream<Item = Vec<ObjectKey>> + Send + 'static,
    ) -> Self {
        Self::of(Feed::Stream {
            name: name.into(),
            keys: keys.boxed(),
        })
    }

    /// A source that enqueues nothing. Workers wait for the first list of the informer, because
    /// objects that are not cached yet would look as if they did not exist.
    pub fn read(informer: Informer) -> Self {
        Self::of(Feed::ReadOnly(informer))
    }

    fn of(feed: Feed) -> Self {
        Self {
            feed,
            fallback: None,
            priority: Priority::NORMAL,
            debounce: Duration::ZERO,
        }
    }

    /// Sets the priority of the keys. Objects of the initial state have at most
    /// [`Priority::INITIAL`].
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Delays the keys by this time, so that many events in short succession cause one run. An
    /// event of another source ends the delay of a key.
    #[must_use]
    pub fn debounce(mut self, time: Duration) -> Self {
        self.debounce = time;
        self
    }

    /// Enqueues all objects of `own` when the mapper or the stream panics: an unnecessary run is
    /// harmless, a missing one is not.
    #[must_use]
    pub fn enqueue_all_on_panic(mut self, own: Store) -> Self {
        self.fallback = Some(own);
        self
    }

    /// Adds keys to the queue until the source ends. Sends to `synced` when the initial state has
    /// been delivered.
    pub(super) async fn feed(self, controller: Handle, synced: oneshot::Sender<()>) {
        let enqueuer = Enqueuer {
            controller,
            fallback: self.fallback,
            priority: self.priority,
            debounce: self.debounce,
        };
        match self.feed {
            Feed::Informer { informer, mapper } => {
                feed_events(&informer, &mapper, &enqueuer, synced).await;
            }
            Feed::Stream { name, keys } => {
                notify(synced);
                feed_stream(&name, keys, &enqueuer).await;
            }
            Feed::ReadOnly(informer) => {
                if informer.synced().await.is_ok() {
                    notify(synced);
                }
            }
        }
    }
}

async fn feed_events(
    informer: &Informer,
    mapper: &Mapper,
    enqueuer: &Enqueuer,
    synced: oneshot::Sender<()>,
) {
    let mut synced = Some(synced);
    let mut subscription = informer.subscribe();
    while let Some(notification) = subscription.next().await {
        match notification {
            Notification::Change(event) => enqueuer.enqueue_event(mapper, &event),
            Notification::Synced => {
                if let Some(synced) = synced.take() {
                    notify(synced);
                }
            }
        }
    }
}

/// A stream that panicked is not polled again: its state is not known.
async fn feed_stream(
    name: &str,
    mut keys: BoxStream<'static, Vec<ObjectKey>>,
    enqueuer: &Enqueuer,
) {
    loop {
        match AssertUnwindSafe(keys.next()).catch_unwind().await {
            Ok(Some(keys)) => enqueuer.enqueue(keys, enqueuer.priority, Trigger::Other),
            Ok(None) => {
                tracing::debug!(source = name, "the source has ended");
                return;
            }
            Err(panic) => {
                let message = panic_message(panic.as_ref());
                tracing::error!(
                    source = name,
                    "the source panicked and has ended: {message}"
                );
                enqueuer
                    .controller
                    .count(|metrics| metrics.mapper_panics += 1);
                enqueuer.enqueue(enqueuer.fallback_keys(), enqueuer.priority, Trigger::Other);
                return;
            }
        }
    }
}

fn notify(synced: oneshot::Sender<()>) {
    // An error means that the receiver is gone because the controller was stopped.
    synced.send(()).ok();
}

/// Adds the keys of one source to the queue.
struct Enqueuer {
    controller: Handle,
    fallback: Option<Store>,
    priority: Priority,
    debounce: Duration,
}

impl Enqueuer {
    fn enqueue_event(&self, mapper: &Mapper, event: &ChangeEvent) {
        let mapped = catch_unwind(AssertUnwindSafe(|| mapper(event)));
        let keys = mapped.unwrap_or_else(|panic| {
            let message = panic_message(panic.as_ref());
            tracing::error!(object = %event.key, "the mapper or predicate panicked: {message}");
            self.controller.count(|metrics| metrics.mapper_panics += 1);
            self.fallback_keys()
        });
        // The initial state must not delay changes.
        let priority = if event.is_initial {
            self.priority.min(Priority::INITIAL)
        } else {
            self.priority
        };
        let revision = |record: &Record| record.revision().map(|revision| revision.number());
        let trigger = match (&event.new, &event.old) {
            (Some(new), _) => revision(new).map_or(Trigger::Other, Trigger::Changed),
            (None, Some(old)) => Trigger::Deleted(old.uid()),
            (None, None) => Trigger::Other,
        };
        self.enqueue(keys, priority, trigger);
    }

    fn fallback_keys(&self) -> Vec<ObjectKey> {
        let Some(store) = &self.fallback else {
            return Vec::new();
        };
        store
            .snapshot()
            .iter()
            .map(|(key, _)| key.clone())
            .collect()
    }

    fn enqueue(&self, keys: Vec<ObjectKey>, priority: Priority, trigger: Trigger<'_>) {
        for key in keys {
            self.controller.loop_detector().note_trigger(&key, trigger);
            let options = AddOptions {
                priority: Some(priority),
                after: self.debounce,
            };
            self.controller.queue().add_with(key, options);
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match &self.feed {
            Feed::Informer { informer, .. } | Feed::ReadOnly(informer) => informer.spec().what(),
            Feed::Stream { name, .. } => name.to_string(),
        };
        f.debug_struct("Source")
            .field("what", &what)
            .finish_non_exhaustive()
    }
}

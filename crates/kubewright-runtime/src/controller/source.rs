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

/// What wakes keys of a controller: the events of an informer, or a stream of something else.
pub struct Source {
    feed: Feed,
    /// The objects to wake when nobody knows which.
    own: Option<Store>,
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
    /// Wakes nobody.
    Read(Informer),
}

impl Source {
    /// Events of `informer` wake the keys that `mapper` names. Its initial state has been
    /// delivered when each object of the first list was.
    pub fn new(informer: Informer, mapper: Mapper) -> Self {
        Self::of(Feed::Informer { informer, mapper })
    }

    /// Each item of the stream wakes the keys in it. There is no initial state to wait for; a
    /// stream that ends wakes nobody any more. `name` is for the log.
    pub fn stream(
        name: impl Into<Arc<str>>,
        keys: impl Stream<Item = Vec<ObjectKey>> + Send + 'static,
    ) -> Self {
        Self::of(Feed::Stream {
            name: name.into(),
            keys: keys.boxed(),
        })
    }

    /// An informer that is only read: it wakes nobody, but workers wait for its first list. What
    /// is not in a cache yet would look as if it were not there.
    pub fn read(informer: Informer) -> Self {
        Self::of(Feed::Read(informer))
    }

    fn of(feed: Feed) -> Self {
        Self {
            feed,
            own: None,
            priority: Priority::NORMAL,
            debounce: Duration::ZERO,
        }
    }

    /// The same, whose keys are so urgent. What was there at the start is never more urgent than
    /// [`Priority::INITIAL`].
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// The same, whose keys wait so long for more of their events: many that come close together
    /// cause one run. Another source wakes a key that waits at once.
    #[must_use]
    pub fn debounce(mut self, time: Duration) -> Self {
        self.debounce = time;
        self
    }

    /// The same; what the mapper cannot answer because it panics wakes all objects of `own`: one
    /// run too many is harmless, one that is missing is not.
    #[must_use]
    pub fn or_all_of(mut self, own: Store) -> Self {
        self.own = Some(own);
        self
    }

    /// Feeds the queue until the source ends; `synced` is told once the initial state has been
    /// delivered.
    pub(super) async fn feed(self, controller: Handle, synced: oneshot::Sender<()>) {
        let enqueuer = Enqueuer {
            controller,
            own: self.own,
            priority: self.priority,
            debounce: self.debounce,
        };
        match self.feed {
            Feed::Informer { informer, mapper } => {
                feed_events(&informer, &mapper, &enqueuer, synced).await;
            }
            Feed::Stream { name, keys } => {
                // The controller may have been stopped meanwhile.
                synced.send(()).unwrap_or_default();
                feed_stream(&name, keys, &enqueuer).await;
            }
            Feed::Read(informer) => {
                if informer.synced().await.is_ok() {
                    synced.send(()).unwrap_or_default();
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
    while let Some(notice) = subscription.next().await {
        match notice {
            Notification::Change(event) => enqueuer.by_event(mapper, &event),
            Notification::Synced => {
                let told = synced.take().map(|synced| synced.send(()));
                told.unwrap_or(Ok(())).unwrap_or_default();
            }
        }
    }
}

/// A stream that has panicked is not asked again: nobody knows what is left of it.
async fn feed_stream(
    name: &str,
    mut keys: BoxStream<'static, Vec<ObjectKey>>,
    enqueuer: &Enqueuer,
) {
    loop {
        match AssertUnwindSafe(keys.next()).catch_unwind().await {
            Ok(Some(keys)) => enqueuer.wake(keys, enqueuer.priority, Trigger::Other),
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
                enqueuer.wake(enqueuer.all(), enqueuer.priority, Trigger::Other);
                return;
            }
        }
    }
}

/// Whom a source wakes.
struct Enqueuer {
    controller: Handle,
    own: Option<Store>,
    priority: Priority,
    debounce: Duration,
}

impl Enqueuer {
    fn by_event(&self, mapper: &Mapper, event: &ChangeEvent) {
        let mapped = catch_unwind(AssertUnwindSafe(|| mapper(event)));
        let keys = mapped.unwrap_or_else(|panic| {
            let message = panic_message(panic.as_ref());
            tracing::error!(object = %event.key, "the mapper or predicate panicked: {message}");
            self.controller.count(|metrics| metrics.mapper_panics += 1);
            self.all()
        });
        // What was there at the start must not hold up what happens now.
        let priority = match event.is_initial {
            true => self.priority.min(Priority::INITIAL),
            false => self.priority,
        };
        let revision = |record: &Record| record.revision().map(|revision| revision.number());
        let trigger = match (&event.new, &event.old) {
            (Some(new), _) => revision(new).map_or(Trigger::Other, Trigger::Changed),
            (None, Some(old)) => Trigger::Deleted(old.uid()),
            (None, None) => Trigger::Other,
        };
        self.wake(keys, priority, trigger);
    }

    fn all(&self) -> Vec<ObjectKey> {
        let snapshot = self.own.as_ref().map(Store::snapshot);
        let keys = |one: crate::store::Snapshot| one.iter().map(|(key, _)| key.clone()).collect();
        snapshot.map(keys).unwrap_or_default()
    }

    fn wake(&self, keys: Vec<ObjectKey>, priority: Priority, trigger: Trigger<'_>) {
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
            Feed::Informer { informer, .. } | Feed::Read(informer) => informer.spec().what(),
            Feed::Stream { name, .. } => name.to_string(),
        };
        f.debug_struct("Source")
            .field("what", &what)
            .finish_non_exhaustive()
    }
}

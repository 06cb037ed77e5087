//! The thread that writes a store to its disk.

use std::error::Error;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use imbl::OrdMap;
use kubewright_core::Revision;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::database::{Disk, Transaction};
use super::error::DiskError;
use crate::store::key::Key;
use crate::store::log::Change;
use crate::store::object::Object;
use crate::store::state::StoreState;
use crate::store::subscribers::Subscribers;

/// The time between two attempts to write after a failure.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Writes changes to a disk. A thread writes all queued changes in one transaction, so that many
/// requests share the wait for the disk.
///
/// When the disk fails, the store returns to the state on the disk: reads show what would survive
/// a restart, the requests in flight fail, and so do further writes until the disk works again.
#[derive(Debug)]
pub(in crate::store) struct DiskWriter {
    queue: Arc<Mutex<Vec<Arc<Change>>>>,
    /// Notifies the thread that the queue has changes.
    notify: Option<SyncSender<()>>,
    progress: watch::Receiver<Progress>,
    thread: Option<JoinHandle<()>>,
}

/// The progress of the disk.
#[derive(Clone, Debug)]
struct Progress {
    /// Every change up to this revision is on the disk or lost.
    settled: Revision,
    losses: Losses,
    /// Why the disk cannot be written at present.
    failure: Option<Arc<str>>,
}

/// How often changes were lost, and the reason of the last time.
#[derive(Clone, Debug, Default)]
struct Losses {
    count: u64,
    why: Arc<str>,
}

impl DiskWriter {
    /// Starts the thread. Subscribers are notified of a change when it is on the disk.
    pub(in crate::store) fn start(
        disk: Disk,
        settled: Revision,
        state: Arc<Mutex<StoreState>>,
        subscribers: Arc<Subscribers>,
    ) -> Result<Self, DiskError> {
        let queue: Arc<Mutex<Vec<Arc<Change>>>> = Arc::default();
        let (notify, notified) = sync_channel(1);
        let (sender, progress) = watch::channel(Progress {
            settled,
            losses: Losses::default(),
            failure: None,
        });
        let mut thread = WriterThread {
            disk,
            queue: Arc::clone(&queue),
            state,
            subscribers,
            progress: sender,
            restored: OrdMap::new(),
        };
        let thread = std::thread::Builder::new()
            .name("kubewright-disk".to_owned())
            .spawn(move || thread.run(&notified))?;
        Ok(Self {
            queue,
            notify: Some(notify),
            progress,
            thread: Some(thread),
        })
    }

    /// Queues a change. The caller holds the lock of the store, so that changes are in order.
    pub(in crate::store) fn push(&self, change: Arc<Change>) {
        self.queue.lock().push(change);
        if let Some(notify) = &self.notify {
            // When the channel is full, the thread has not read the queue yet.
            match notify.try_send(()) {
                Ok(()) | Err(TrySendError::Full(()) | TrySendError::Disconnected(())) => {}
            }
        }
    }

    /// The last revision that readers can see.
    pub(in crate::store) fn settled(&self) -> Revision {
        self.progress.borrow().settled
    }

    /// Why the disk cannot be written at present.
    pub(in crate::store) fn failure(&self) -> Option<Arc<str>> {
        self.progress.borrow().failure.clone()
    }

    /// How often changes were lost.
    pub(in crate::store) fn losses(&self) -> u64 {
        self.progress.borrow().losses.count
    }

    /// Waits until a revision is on the disk. Fails with the reason when changes were lost since the
    /// count of losses was `losses`: a request can have read a state that is lost.
    pub(in crate::store) async fn until(
        &self,
        revision: Revision,
        losses: u64,
    ) -> Result<(), Arc<str>> {
        let mut progress = self.progress.clone();
        let is_settled = |progress: &Progress| progress.settled >= revision;
        let Ok(found) = progress.wait_for(is_settled).await else {
            // The thread, which has the sender, ends only after this is dropped.
            return std::future::pending().await;
        };
        if found.losses.count == losses {
            Ok(())
        } else {
            Err(Arc::clone(&found.losses.why))
        }
    }
}

/// Ends the thread, after it has written the queued changes.
impl Drop for DiskWriter {
    fn drop(&mut self) {
        self.notify = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that writes the data folder panicked");
        }
    }
}

/// The state of the thread.
struct WriterThread {
    disk: Disk,
    queue: Arc<Mutex<Vec<Arc<Change>>>>,
    state: Arc<Mutex<StoreState>>,
    subscribers: Arc<Subscribers>,
    progress: watch::Sender<Progress>,
    /// The states that lost changes had replaced. A transaction that failed can be on the disk
    /// nevertheless: the next one restores these states.
    restored: OrdMap<Key, Option<Arc<Object>>>,
}

impl WriterThread {
    fn run(&mut self, notified: &Receiver<()>) {
        let mut is_open = true;
        while is_open {
            is_open = if self.is_failing() {
                let waited = notified.recv_timeout(RETRY_INTERVAL);
                waited != Err(RecvTimeoutError::Disconnected)
            } else {
                notified.recv().is_ok()
            };
            let batch = std::mem::take(&mut *self.queue.lock());
            if batch.is_empty() && !self.is_failing() {
                continue;
            }
            match self.write(&batch) {
                Ok(revision) => self.succeeded(&batch, revision),
                Err(error) => self.failed(batch, &error),
            }
        }
    }

    fn is_failing(&self) -> bool {
        self.progress.borrow().failure.is_some()
    }

    /// Writes a batch. While the disk fails an empty batch is written as well, to probe the disk.
    fn write(&mut self, batch: &[Arc<Change>]) -> Result<Revision, DiskError> {
        let settled = self.progress.borrow().settled;
        let revision = batch.last().map_or(settled, |last| last.revision());
        self.disk.write(&Transaction {
            restored: &self.restored,
            changes: batch,
            revision,
        })?;
        Ok(revision)
    }

    fn succeeded(&mut self, batch: &[Arc<Change>], revision: Revision) {
        self.restored.clear();
        if self.is_failing() {
            tracing::warn!("the data folder can be written again: the cluster accepts writes");
        }
        self.progress.send_modify(|progress| {
            progress.settled = revision;
            progress.failure = None;
        });
        for change in batch {
            self.subscribers.notify(change);
        }
    }

    /// Undoes the changes that could not be written, and all later ones.
    fn failed(&mut self, mut lost: Vec<Arc<Change>>, error: &DiskError) {
        let why: Arc<str> = with_causes(error).into();
        if !self.is_failing() {
            tracing::error!(
                "{why}; reads continue, writes fail until the data folder can be written again"
            );
        }
        let settled = {
            let mut state = self.state.lock();
            lost.append(&mut self.queue.lock());
            for change in &lost {
                // The oldest state of an object is that on the disk.
                let before = || change.before.clone();
                self.restored
                    .entry(change.key.clone())
                    .or_insert_with(before);
            }
            state.undo(&lost)
        };
        self.progress.send_modify(|progress| {
            progress.failure = Some(Arc::clone(&why));
            if !lost.is_empty() {
                progress.settled = settled;
                progress.losses.count += 1;
                progress.losses.why = why;
            }
        });
    }
}

/// The message of an error with those of its causes.
fn with_causes(error: &DiskError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

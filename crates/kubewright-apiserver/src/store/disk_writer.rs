//! The thread that writes a store to its disk.

use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use imbl::OrdMap;
use kubewright_core::Revision;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::disk::DiskError;
use super::disk::{Disk, Transaction};
use super::followers::Followers;
use super::key::Key;
use super::log::Change;
use super::object::Object;
use super::state::State;

/// How long the disk is left alone between two tries after a failure.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Writes changes to a disk. A thread takes all that wait and writes them in one transaction, so
/// that many requests share the wait for the disk.
///
/// When the disk fails, the store goes back to what is on the disk: reads show what would survive,
/// the requests that were under way fail, and so do further writes until the disk works again.
#[derive(Debug)]
pub(super) struct DiskWriter {
    queue: Arc<Mutex<Vec<Arc<Change>>>>,
    wake: Option<SyncSender<()>>,
    progress: watch::Receiver<Progress>,
    thread: Option<JoinHandle<()>>,
}

/// How far the disk is.
#[derive(Clone, Debug)]
struct Progress {
    /// Every change up to this revision is on the disk or lost.
    settled: Revision,
    losses: Losses,
    /// Why the disk cannot be written to now.
    failure: Option<Arc<str>>,
}

/// How often changes were lost, and why the last time.
#[derive(Clone, Debug, Default)]
struct Losses {
    count: u64,
    why: Arc<str>,
}

impl DiskWriter {
    /// Starts the thread; followers see a change once it is on the disk.
    pub(super) fn start(
        disk: Disk,
        settled: Revision,
        state: Arc<Mutex<State>>,
        followers: Arc<Followers>,
    ) -> Result<Self, DiskError> {
        let queue: Arc<Mutex<Vec<Arc<Change>>>> = Arc::default();
        let (wake, woken) = sync_channel(1);
        let (sender, progress) = watch::channel(Progress {
            settled,
            losses: Losses::default(),
            failure: None,
        });
        let mut writer = Writer {
            disk,
            queue: Arc::clone(&queue),
            state,
            followers,
            progress: sender,
            restored: OrdMap::new(),
        };
        let thread = std::thread::Builder::new()
            .name("kubewright-disk".to_owned())
            .spawn(move || writer.run(&woken))?;
        Ok(Self {
            queue,
            wake: Some(wake),
            progress,
            thread: Some(thread),
        })
    }

    /// Hands over a change; the caller holds the lock of the store, so that changes come in their
    /// order.
    pub(super) fn push(&self, change: Arc<Change>) {
        self.queue.lock().push(change);
        if let Some(wake) = &self.wake {
            // A full channel means that the thread will look anyway.
            match wake.try_send(()) {
                Ok(()) | Err(TrySendError::Full(()) | TrySendError::Disconnected(())) => {}
            }
        }
    }

    /// The last revision that may be shown.
    pub(super) fn settled(&self) -> Revision {
        self.progress.borrow().settled
    }

    /// Why the disk cannot be written to now.
    pub(super) fn failure(&self) -> Option<Arc<str>> {
        self.progress.borrow().failure.clone()
    }

    /// How often changes were lost.
    pub(super) fn losses(&self) -> u64 {
        self.progress.borrow().losses.count
    }

    /// Waits until a revision is on the disk. Fails with the reason when changes were lost since
    /// there were that many losses: what was read meanwhile may never have been.
    pub(super) async fn until(&self, revision: Revision, losses: u64) -> Result<(), Arc<str>> {
        let mut progress = self.progress.clone();
        let is_settled = |progress: &Progress| progress.settled >= revision;
        let Ok(found) = progress.wait_for(is_settled).await else {
            // The thread ends only after its sender's owner, which this is.
            return std::future::pending().await;
        };
        match found.losses.count == losses {
            true => Ok(()),
            false => Err(Arc::clone(&found.losses.why)),
        }
    }
}

/// The thread ends with the store, after what waits is written.
impl Drop for DiskWriter {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that writes to the disk panicked");
        }
    }
}

/// What the thread works with.
struct Writer {
    disk: Disk,
    queue: Arc<Mutex<Vec<Arc<Change>>>>,
    state: Arc<Mutex<State>>,
    followers: Arc<Followers>,
    progress: watch::Sender<Progress>,
    /// What lost changes have replaced. A transaction that failed may still be on the disk: the
    /// next one undoes it.
    restored: OrdMap<Key, Option<Arc<Object>>>,
}

impl Writer {
    fn run(&mut self, woken: &Receiver<()>) {
        let mut is_open = true;
        while is_open {
            match self.is_failing() {
                true => {
                    let waited = woken.recv_timeout(RETRY_INTERVAL);
                    is_open = waited != Err(RecvTimeoutError::Disconnected);
                }
                false => is_open = woken.recv().is_ok(),
            }
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

    /// Writes a batch; while the disk fails also an empty one, as a try.
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
            tracing::warn!("the data folder can be written again: the cluster takes writes");
        }
        self.progress.send_modify(|progress| {
            progress.settled = revision;
            progress.failure = None;
        });
        self.followers.announce(batch);
    }

    /// Takes back what could not be written, and all that came after it.
    fn failed(&mut self, mut lost: Vec<Arc<Change>>, error: &DiskError) {
        let why: Arc<str> = with_causes(error).into();
        if !self.is_failing() {
            tracing::error!(
                "{why}; reads go on, writes fail until the data folder can be written again"
            );
        }
        let settled = {
            let mut state = self.state.lock();
            lost.append(&mut self.queue.lock());
            for change in &lost {
                // The oldest state of each object is the one on the disk.
                let before = || change.before.clone();
                self.restored
                    .entry(change.key.clone())
                    .or_insert_with(before);
            }
            state.take_back(&lost)
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

/// An error with what led to it.
fn with_causes(error: &DiskError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        // Writing to a text does not fail.
        write!(text, ": {cause}").unwrap_or_default();
        source = cause.source();
    }
    text
}

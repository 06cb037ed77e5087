use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use kubewright_core::Revision;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::disk::Disk;
use super::followers::Followers;
use super::{Change, DiskError};

/// Keeps writes on a disk: a thread takes all that wait and writes them at once, so that many
/// writers share the wait for the disk.
#[derive(Debug)]
pub(super) struct Keeper {
    waiting: Arc<Mutex<Vec<Arc<Change>>>>,
    wake: Option<SyncSender<()>>,
    progress: watch::Receiver<Progress>,
    thread: Option<JoinHandle<()>>,
}

/// How far the disk is.
#[derive(Clone, Debug)]
struct Progress {
    kept: Revision,
    failure: Option<Arc<DiskError>>,
}

impl Keeper {
    /// Starts the thread; followers are told of a write once it is kept.
    pub(super) fn start(
        disk: Disk,
        kept: Revision,
        followers: Arc<Followers>,
    ) -> std::io::Result<Self> {
        let waiting: Arc<Mutex<Vec<Arc<Change>>>> = Arc::default();
        let (wake, woken) = sync_channel(1);
        let (sender, progress) = watch::channel(Progress {
            kept,
            failure: None,
        });
        let work = Arc::clone(&waiting);
        let thread = std::thread::Builder::new()
            .name("kubewright-disk".to_owned())
            .spawn(move || keep_all(&disk, &work, &woken, (&sender, &followers)))?;
        Ok(Self {
            waiting,
            wake: Some(wake),
            progress,
            thread: Some(thread),
        })
    }

    /// Hands over a write; those of one store come in their order.
    pub(super) fn push(&self, change: Arc<Change>) {
        self.waiting.lock().push(change);
        if let Some(wake) = &self.wake {
            // A full channel means that the thread will look anyway.
            match wake.try_send(()) {
                Ok(()) | Err(TrySendError::Full(()) | TrySendError::Disconnected(())) => {}
            }
        }
    }

    /// The last revision that is on the disk.
    pub(super) fn kept(&self) -> Revision {
        self.progress.borrow().kept
    }

    /// Waits until a revision is on the disk; the failure when it never will be.
    pub(super) async fn until(&self, revision: Revision) -> Result<(), Arc<DiskError>> {
        let mut progress = self.progress.clone();
        let is_settled =
            |progress: &Progress| progress.kept >= revision || progress.failure.is_some();
        let Ok(found) = progress.wait_for(is_settled).await else {
            // The thread ends only after its sender's owner, which this is.
            return std::future::pending().await;
        };
        match &found.failure {
            Some(failure) if found.kept < revision => Err(Arc::clone(failure)),
            _ => Ok(()),
        }
    }
}

/// The thread ends with the store, after what waits is written.
impl Drop for Keeper {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that writes to the disk fell over");
        }
    }
}

fn keep_all(
    disk: &Disk,
    waiting: &Mutex<Vec<Arc<Change>>>,
    woken: &Receiver<()>,
    (progress, followers): (&watch::Sender<Progress>, &Followers),
) {
    let mut is_open = true;
    while is_open {
        is_open = woken.recv().is_ok();
        let batch = std::mem::take(&mut *waiting.lock());
        let Some(last) = batch.last() else {
            continue;
        };
        if let Err(failure) = disk.keep(&batch) {
            tracing::error!(%failure, "nothing can be kept any more");
            progress.send_modify(|progress| progress.failure = Some(Arc::new(failure)));
            return;
        }
        let kept = last.revision();
        progress.send_modify(|progress| progress.kept = kept);
        followers.announce(&batch);
    }
}

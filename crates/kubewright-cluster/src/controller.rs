use std::sync::Arc;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::Client;
use kubewright_apiserver::store::{Change, ChangeKind, Changes, Compacted, Key, Object};

/// A part of the cluster that reacts to what is stored.
///
/// It is told of every change in order and keeps what it needs to know; between two steps it has
/// always seen its own last write, so that its decisions never rest on an older state.
pub(super) trait Controller: Send {
    /// Notes a change: updates the index and remembers what to look at.
    fn observe(&mut self, event: &Event<'_>);

    /// Waits for a reason to step that is neither a change nor a time; there is none by default.
    ///
    /// Dropped before it is done, it has changed nothing.
    fn signal(&mut self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }

    /// Does the next piece of work, if there is any.
    fn step(&mut self, cluster: &Client) -> impl Future<Output = Step> + Send;
}

/// One object that changed, or that was there at the start.
#[derive(Debug)]
pub(super) struct Event<'a> {
    pub(super) key: &'a Key,
    /// What was stored before, as far as this controller has been told of it.
    pub(super) before: Option<&'a Arc<Object>>,
    /// What is stored now; none when the object was removed.
    pub(super) now: Option<&'a Arc<Object>>,
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Something was done, or tried; there may be more.
    Worked,
    /// Nothing to do before the next change, or before the given time.
    Idle(Option<Instant>),
}

/// Why following the store ended.
enum End {
    Cancelled,
    /// The log was too short for how far the controller had fallen behind.
    Lost,
}

/// Runs a controller until it is cancelled; when the log is lost, a new one starts from a
/// snapshot.
pub(super) async fn drive<C: Controller>(
    cluster: Client,
    make: impl Fn() -> C,
    cancel: CancellationToken,
) {
    loop {
        let mut controller = make();
        let snapshot = cluster.store().snapshot();
        for (key, object) in snapshot.iter() {
            controller.observe(&Event {
                key,
                before: None,
                now: Some(object),
            });
        }
        let mut changes = cluster.store().watch_from(snapshot.revision());
        drop(snapshot);
        match follow(&mut controller, &mut changes, &cluster, &cancel).await {
            End::Cancelled => return,
            End::Lost => tracing::debug!("the log is too short: starting again from a snapshot"),
        }
    }
}

async fn follow<C: Controller>(
    controller: &mut C,
    changes: &mut Changes,
    cluster: &Client,
    cancel: &CancellationToken,
) -> End {
    while !cancel.is_cancelled() {
        match changes.now() {
            Err(Compacted { .. }) => return End::Lost,
            Ok(batch) if !batch.is_empty() => {
                observe(controller, &batch);
                continue;
            }
            Ok(_) => {}
        }
        let wake = match controller.step(cluster).await {
            Step::Worked => {
                // Others get to see the write and to react before the next one.
                tokio::task::yield_now().await;
                continue;
            }
            Step::Idle(wake) => wake,
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => return End::Cancelled,
            batch = changes.next() => match batch {
                Ok(batch) => observe(controller, &batch),
                Err(Compacted { .. }) => return End::Lost,
            },
            () = controller.signal() => {}
            () = until(wake) => {}
        }
    }
    End::Cancelled
}

fn observe<C: Controller>(controller: &mut C, batch: &[Arc<Change>]) {
    for change in batch {
        controller.observe(&Event {
            key: &change.key,
            before: change.before.as_ref(),
            now: (change.kind != ChangeKind::Deleted).then_some(&change.after),
        });
    }
}

async fn until(wake: Option<Instant>) {
    match wake {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

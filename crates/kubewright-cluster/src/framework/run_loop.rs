//! Runs a control loop over the changes of the store.

use std::sync::Arc;

use kubewright_apiserver::store::{Change, ChangeKind, Changes, Compacted};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::client::Client;
use super::control_loop::{ControlLoop, ObjectChange, Step};

/// Why following the store's changes ended.
enum End {
    Cancelled,
    /// The loop has fallen behind further than the store's log reaches back.
    Compacted,
}

/// Runs a control loop until it is cancelled. When it has fallen behind the store's log, a new
/// loop starts from a snapshot.
pub(crate) async fn run_loop<L: ControlLoop>(
    client: Client,
    new_loop: impl Fn() -> L,
    cancel: CancellationToken,
) {
    loop {
        let mut control_loop = new_loop();
        let snapshot = client.store().snapshot();
        for (key, object) in snapshot.iter() {
            control_loop.observe(&ObjectChange {
                key,
                before: None,
                after: Some(object),
            });
        }
        let mut changes = client.store().watch_from(snapshot.revision());
        drop(snapshot);
        match follow(&mut control_loop, &mut changes, &client, &cancel).await {
            End::Cancelled => return,
            End::Compacted => {
                tracing::debug!("the store's log is compacted: restarting from a snapshot");
            }
        }
    }
}

async fn follow<L: ControlLoop>(
    control_loop: &mut L,
    changes: &mut Changes,
    client: &Client,
    cancel: &CancellationToken,
) -> End {
    while !cancel.is_cancelled() {
        match changes.now() {
            Err(Compacted { .. }) => return End::Compacted,
            Ok(batch) if !batch.is_empty() => {
                observe(control_loop, &batch);
                continue;
            }
            Ok(_) => {}
        }
        let deadline = match control_loop.step(client).await {
            Step::Worked => {
                // The other loops observe the write and react to it before the next one.
                tokio::task::yield_now().await;
                continue;
            }
            Step::Idle(deadline) => deadline,
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => return End::Cancelled,
            batch = changes.next() => match batch {
                Ok(batch) => observe(control_loop, &batch),
                Err(Compacted { .. }) => return End::Compacted,
            },
            () = control_loop.signal() => {}
            () = until(deadline) => {}
        }
    }
    End::Cancelled
}

fn observe<L: ControlLoop>(control_loop: &mut L, batch: &[Arc<Change>]) {
    for change in batch {
        control_loop.observe(&ObjectChange {
            key: &change.key,
            before: change.before.as_ref(),
            after: (change.kind != ChangeKind::Deleted).then_some(&change.after),
        });
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

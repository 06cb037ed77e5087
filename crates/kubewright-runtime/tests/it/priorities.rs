//! Tests of the priorities of sources and outcomes.

use std::time::Duration;

use futures_util::stream;
use kubewright_core::ObjectKey;
use kubewright_runtime::controller::{Controller, Outcome, Source};
use kubewright_runtime::queue::Priority;
use tokio::time::sleep;

use crate::controllers::{Runs, begin};

fn keys(names: &[&str]) -> Vec<ObjectKey> {
    let names = names.iter();
    names
        .map(|name| ObjectKey::namespaced("shop", name))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn keys_of_high_priority_come_first_and_an_outcome_sets_the_priority_of_the_next_run() {
    let bell = stream::once(async {
        sleep(Duration::from_millis(100)).await;
        keys(&["x"])
    });
    let sources = vec![
        Source::stream("bulk", stream::iter([keys(&["a", "b", "c"])])).priority(Priority(-10)),
        Source::stream("bell", bell).priority(Priority(10)),
    ];
    let runs = Runs::new();
    let reconcile = runs.reconciler(|number| {
        Box::pin(async move {
            sleep(Duration::from_secs(1)).await;
            let again = Outcome::requeue_after(Duration::from_millis(10));
            Ok(match number {
                2 => again.with_priority(Priority(-50)),
                _ => Outcome::done(),
            })
        })
    });
    let _run = begin(Controller::new("test", reconcile).sources(sources));
    runs.reach(5).await;
    // The key of the stream `bell` arrives during the first run; its second run has the lowest
    // priority.
    assert_eq!(runs.names(), ["a", "x", "b", "c", "x"]);
}

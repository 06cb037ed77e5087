//! Tests of the debounce time of a source.

use std::time::Duration;

use futures_util::{Stream, StreamExt as _, stream};
use kubewright_core::ObjectKey;
use kubewright_runtime::controller::{Controller, Outcome, Source};
use tokio::time::{Instant, sleep};

use crate::controllers::{Runs, begin};

/// A stream of the key, `count` times at this interval.
fn ticks(name: &'static str, millis: u64, count: usize) -> impl Stream<Item = Vec<ObjectKey>> {
    stream::repeat(()).take(count).then(move |()| async move {
        sleep(Duration::from_millis(millis)).await;
        vec![ObjectKey::namespaced("shop", name)]
    })
}

#[tokio::test(start_paused = true)]
async fn changes_within_the_debounce_time_cause_one_run() {
    let start = Instant::now();
    let pods = Source::stream("pods", ticks("a", 15, 20)).debounce(Duration::from_millis(100));
    let runs = Runs::new();
    let reconcile = runs.reconciler(|_| Box::pin(async { Ok(Outcome::done()) }));
    let _run = begin(Controller::new("test", reconcile).sources(vec![pods]));
    // The ticks at 15, 120 and 225 ms start a delay; the following ones are merged into it.
    runs.reach(3).await;
    assert_eq!(start.elapsed().as_millis(), 325);
    sleep(Duration::from_secs(10)).await;
    assert_eq!(runs.names(), ["a"; 3]);
}

#[tokio::test(start_paused = true)]
async fn key_of_another_source_ends_the_debounce_time() {
    let start = Instant::now();
    let sources = vec![
        Source::stream("pods", ticks("a", 10, 1)).debounce(Duration::from_secs(60)),
        Source::stream("own", ticks("a", 20, 1)),
    ];
    let runs = Runs::new();
    let reconcile = runs.reconciler(|_| Box::pin(async { Ok(Outcome::done()) }));
    let _run = begin(Controller::new("test", reconcile).sources(sources));
    runs.reach(1).await;
    assert_eq!(start.elapsed().as_millis(), 20);
    sleep(Duration::from_secs(120)).await;
    assert_eq!(runs.names(), ["a"], "the one run saw both changes");
}

use std::time::Duration;

use futures_util::{Stream, StreamExt as _, stream};
use kubewright_core::ObjectKey;
use kubewright_runtime::controller::{Controller, Outcome, Source};
use tokio::time::{Instant, sleep};

use crate::controllers::{Runs, begin};

/// A key each so many milliseconds, so often.
fn beats(name: &'static str, millis: u64, count: usize) -> impl Stream<Item = Vec<ObjectKey>> {
    stream::repeat(()).take(count).then(move |()| async move {
        sleep(Duration::from_millis(millis)).await;
        vec![ObjectKey::namespaced("shop", name)]
    })
}

#[tokio::test(start_paused = true)]
async fn changes_that_come_close_together_cause_one_run() {
    let begun = Instant::now();
    let pods = Source::stream("pods", beats("a", 15, 20)).debounce(Duration::from_millis(100));
    let runs = Runs::new();
    let reconcile = runs.reconciler(|_| Box::pin(async { Ok(Outcome::done()) }));
    let _run = begin(Controller::new("test", reconcile).sources(vec![pods]));
    // The beats at 15, 120 and 225 ms wait; those that follow each of them join it.
    runs.reach(3).await;
    assert_eq!(begun.elapsed().as_millis(), 325);
    sleep(Duration::from_secs(10)).await;
    assert_eq!(runs.names(), ["a"; 3]);
}

#[tokio::test(start_paused = true)]
async fn another_source_does_not_wait_for_what_gathers() {
    let begun = Instant::now();
    let sources = vec![
        Source::stream("pods", beats("a", 10, 1)).debounce(Duration::from_secs(60)),
        Source::stream("own", beats("a", 20, 1)),
    ];
    let runs = Runs::new();
    let reconcile = runs.reconciler(|_| Box::pin(async { Ok(Outcome::done()) }));
    let _run = begin(Controller::new("test", reconcile).sources(sources));
    runs.reach(1).await;
    assert_eq!(begun.elapsed().as_millis(), 20);
    sleep(Duration::from_secs(120)).await;
    assert_eq!(runs.names(), ["a"], "the one run saw both changes");
}

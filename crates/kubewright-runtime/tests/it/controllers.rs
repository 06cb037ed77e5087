//! Tests of controllers: sources, workers, retries, terms.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::SignedDuration;
use kubewright_core::ObjectKey;
use kubewright_runtime::controller::{
    Controller, Failure, Handle, Outcome, Reconciler, Run as Call, Source, own_mapper,
};
use kubewright_runtime::informer::{Informer, Informers};
use kubewright_runtime::write::WriteError;
use kubewright_wire::status::Status;
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::lease_server::LeaseServer;
use crate::scripted_server::{Chunks, ScriptedServer, TEST_TIMEOUT, frame, pod, pods, send};

const GRACE: Duration = Duration::from_secs(30);

pub(crate) type RunResult = Result<Outcome, Failure>;

/// The runs so far: the name of the object, and the time since the start.
#[derive(Clone)]
pub(crate) struct Runs {
    start: Instant,
    seen: Arc<Mutex<Vec<(String, Duration)>>>,
    more: Arc<Notify>,
}

impl Runs {
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            seen: Arc::default(),
            more: Arc::default(),
        }
    }

    /// A reconciler that records each run and returns the result of `run` for its number.
    pub(crate) fn reconciler<F>(&self, run: F) -> Reconciler
    where
        F: Fn(usize) -> BoxFuture<'static, RunResult> + Send + Sync + 'static,
    {
        let runs = self.clone();
        Arc::new(move |call: Call| {
            let mut seen = runs.seen.lock();
            seen.push((call.key.name().to_owned(), runs.start.elapsed()));
            runs.more.notify_one();
            run(seen.len())
        })
    }

    pub(crate) async fn reach(&self, count: usize) {
        while self.seen.lock().len() < count {
            let more = timeout(TEST_TIMEOUT, self.more.notified()).await;
            more.expect("one more run");
        }
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.seen
            .lock()
            .iter()
            .map(|(name, _)| name.clone())
            .collect()
    }

    fn times(&self) -> Vec<u128> {
        let seen = self.seen.lock();
        seen.iter().map(|(_, time)| time.as_millis()).collect()
    }
}

fn done(_: usize) -> BoxFuture<'static, RunResult> {
    Box::pin(async { Ok(Outcome::done()) })
}

/// A running controller.
pub(crate) struct Run {
    tasks: JoinSet<()>,
    ready: oneshot::Receiver<()>,
    stop: CancellationToken,
    handle: Handle,
}

fn start(informers: &[&Informer], workers: usize, reconcile: Reconciler) -> Run {
    let sources = informers
        .iter()
        .map(|&informer| Source::new(informer.clone(), own_mapper()));
    let controller = Controller::new("test", reconcile)
        .sources(sources.collect())
        .workers(workers);
    begin(controller)
}

pub(crate) fn begin(controller: Controller) -> Run {
    let handle = controller.handle().clone();
    let (sender, ready) = oneshot::channel();
    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    tasks.spawn(controller.run(sender, stop.clone(), GRACE));
    Run {
        tasks,
        ready,
        stop,
        handle,
    }
}

/// An informer with these objects, the body of its watch, and its set.
fn informer_of(names: &[&str]) -> (Informer, Chunks, Informers) {
    let server = ScriptedServer::default();
    let objects: Vec<_> = names.iter().map(|name| pod(name, 1)).collect();
    server.list(10, &objects);
    let watch = server.open(200);
    let informers = server.informers();
    (informers.get(&pods()), watch, informers)
}

#[tokio::test(start_paused = true)]
async fn workers_start_when_every_source_has_delivered_its_initial_state() {
    let (first, _watch, _informers) = informer_of(&["b", "a"]);
    let late = ScriptedServer::default();
    let late_informers = late.informers();
    let second = late_informers.get(&pods());
    let runs = Runs::new();
    let mut run = start(&[&first, &second], 1, runs.reconciler(done));
    let early = timeout(Duration::from_secs(5), &mut run.ready).await;
    assert!(
        early.is_err(),
        "not ready while a source has no initial state"
    );
    assert!(runs.names().is_empty());
    late.list(10, &[pod("c", 1)]);
    run.ready.await.unwrap();
    runs.reach(3).await;
    assert_eq!(runs.names(), ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn workers_wait_for_the_first_list_of_read_only_informers() {
    let (informer, _watch, _informers) = informer_of(&["a"]);
    let late = ScriptedServer::default();
    let late_informers = late.informers();
    let sources = vec![
        Source::new(informer, own_mapper()),
        Source::read(late_informers.get(&pods())),
    ];
    let runs = Runs::new();
    let mut run = begin(Controller::new("test", runs.reconciler(done)).sources(sources));
    let early = timeout(Duration::from_secs(5), &mut run.ready).await;
    assert!(
        early.is_err(),
        "an object that is not listed yet would look as if it did not exist"
    );
    late.list(10, &[pod("b", 1)]);
    run.ready.await.unwrap();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(runs.names(), ["a"], "the source enqueues nothing");
}

#[tokio::test(start_paused = true)]
async fn failures_and_panics_are_retried_with_growing_delays() {
    let (informer, _watch, _informers) = informer_of(&["a"]);
    let runs = Runs::new();
    let reconcile = runs.reconciler(|run| {
        Box::pin(async move {
            match run {
                2 => panic!("worse"),
                3 => Err(Failure::from("later").retry_after(Duration::from_secs(7))),
                4 => Ok(Outcome::requeue_after(Duration::from_secs(60))),
                _ => Err("no".into()),
            }
        })
    });
    let _run = start(&[&informer], 1, reconcile);
    runs.reach(6).await;
    let times = runs.times();
    let gaps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // A successful run resets the backoff. The timers of tokio have a resolution of 1 ms.
    let expected = [5, 10, 7_000, 60_000, 5];
    for (gap, expected) in gaps.iter().zip(expected) {
        assert!((expected..=expected + 2).contains(gap), "{gaps:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn terminal_failure_is_retried_only_after_a_change() {
    let (informer, watch, _informers) = informer_of(&["a"]);
    let runs = Runs::new();
    let reconcile =
        runs.reconciler(|_| Box::pin(async { Err(Failure::terminal("spec.image is empty")) }));
    let _run = start(&[&informer], 1, reconcile);
    runs.reach(1).await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(runs.names().len(), 1);
    send(&watch, frame("MODIFIED", &pod("a", 11)));
    runs.reach(2).await;
}

#[tokio::test(start_paused = true)]
async fn changes_during_a_run_cause_one_more_run_and_no_concurrent_one() {
    let (informer, watch, _informers) = informer_of(&["a"]);
    let runs = Runs::new();
    let reconcile = runs.reconciler(|_| {
        Box::pin(async {
            sleep(Duration::from_secs(10)).await;
            Ok(Outcome::done())
        })
    });
    let _run = start(&[&informer], 4, reconcile);
    runs.reach(1).await;
    for revision in 11..20 {
        send(&watch, frame("MODIFIED", &pod("a", revision)));
        sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(runs.names().len(), 1);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(runs.names().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn stop_waits_for_current_runs_and_begins_no_new_one() {
    let (informer, _watch, _informers) = informer_of(&["a", "b"]);
    let runs = Runs::new();
    let ended = Arc::new(Mutex::new(0));
    let count = Arc::clone(&ended);
    let reconcile = runs.reconciler(move |_| {
        let count = Arc::clone(&count);
        Box::pin(async move {
            sleep(Duration::from_secs(10)).await;
            *count.lock() += 1;
            Ok(Outcome::done())
        })
    });
    let mut run = start(&[&informer], 1, reconcile);
    runs.reach(1).await;
    run.stop.cancel();
    run.tasks.join_next().await;
    assert_eq!((runs.names().len(), *ended.lock()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn run_that_does_not_end_is_aborted_after_the_grace_period() {
    let (informer, _watch, _informers) = informer_of(&["a"]);
    let runs = Runs::new();
    let reconcile = runs.reconciler(|_| Box::pin(std::future::pending()));
    let mut run = start(&[&informer], 1, reconcile);
    runs.reach(1).await;
    let stopped = Instant::now();
    run.stop.cancel();
    run.tasks.join_next().await;
    assert!(stopped.elapsed() >= GRACE && stopped.elapsed() < GRACE * 2);
}

#[tokio::test(start_paused = true)]
async fn no_worker_starts_when_a_source_ends_before_its_initial_state() {
    let (first, _watch, _informers) = informer_of(&["a"]);
    let silent = ScriptedServer::default().informers();
    let second = silent.get(&pods());
    let runs = Runs::new();
    let mut run = start(&[&first, &second], 1, runs.reconciler(done));
    silent.shutdown().await;
    run.tasks.join_next().await;
    assert!(run.ready.await.is_err());
    assert!(runs.names().is_empty());
}

#[tokio::test(start_paused = true)]
async fn mapper_that_panics_enqueues_all_objects_and_maps_the_next_event() {
    let (informer, watch, _informers) = informer_of(&["a", "b"]);
    let mapper = |event: &kubewright_runtime::informer::ChangeEvent| {
        assert!(
            event.is_initial || event.key.name() != "a",
            "the mapper panics for a"
        );
        vec![event.key.clone()]
    };
    let source = Source::new(informer.clone(), Box::new(mapper));
    let runs = Runs::new();
    let controller = Controller::new("test", runs.reconciler(done));
    let run =
        begin(controller.sources(vec![source.enqueue_all_on_panic(informer.store().clone())]));
    runs.reach(2).await;
    send(&watch, frame("MODIFIED", &pod("a", 11)));
    runs.reach(4).await;
    send(&watch, frame("MODIFIED", &pod("b", 12)));
    runs.reach(5).await;
    assert_eq!(runs.names(), ["a", "b", "a", "b", "b"]);
    assert_eq!(run.handle.metrics().mapper_panics, 1);
}

#[tokio::test(start_paused = true)]
async fn run_that_times_out_is_aborted_counted_and_retried() {
    let (informer, _watch, _informers) = informer_of(&["a"]);
    let runs = Runs::new();
    let reconcile = runs.reconciler(|run| match run {
        1 => Box::pin(std::future::pending()),
        _ => done(run),
    });
    let controller = Controller::new("test", reconcile)
        .sources(vec![Source::new(informer, own_mapper())])
        .timeout(Some(Duration::from_secs(60)));
    let run = begin(controller);
    runs.reach(2).await;
    assert!(
        (60_005..60_010).contains(&runs.times()[1]),
        "{:?}",
        runs.times()
    );
    sleep(Duration::from_secs(1)).await;
    let metrics = run.handle.metrics();
    assert_eq!(
        (metrics.timeouts, metrics.errors, metrics.successes),
        (1, 1, 1)
    );
    assert_eq!((metrics.active_workers, metrics.max_workers), (0, 1));
    assert_eq!(metrics.reconcile_time.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_failing_keys_are_retried_and_delay_no_change() {
    let server = ScriptedServer::default();
    let objects: Vec<_> = (0..10_000)
        .map(|name| pod(&format!("p{name}"), 1))
        .collect();
    server.list(10, &objects);
    let watch = server.open(200);
    let informers = server.informers();
    let informer = informers.get(&pods());
    let runs = Runs::new();
    // Each key fails twice.
    let reconcile = runs.reconciler(|run| match run {
        0..=20_000 => Box::pin(async {
            tokio::task::yield_now().await;
            Err("no".into())
        }),
        _ => done(run),
    });
    let start_time = Instant::now();
    let run = start(&[&informer], 4, reconcile);
    runs.reach(5_000).await;
    send(&watch, frame("ADDED", &pod("new", 11)));
    runs.reach(5_100).await;
    let names = runs.names();
    let place = names.iter().position(|name| name == "new");
    assert!(place.is_some_and(|place| place < 5_100), "{place:?}");
    runs.reach(30_000).await;
    // The delays of each key are 5 ms and 10 ms.
    assert!(start_time.elapsed() >= Duration::from_millis(15));
    sleep(Duration::from_secs(60)).await;
    let metrics = run.handle.metrics();
    assert_eq!((metrics.errors, metrics.successes), (20_000, 10_001));
    let queue = run.handle.queue_metrics();
    assert_eq!((queue.delayed, queue.processing), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn source_added_to_a_running_controller_enqueues_until_it_is_dropped() {
    let (informer, _watch, _informers) = informer_of(&["a"]);
    let (other, other_watch, _others) = informer_of(&["b"]);
    let runs = Runs::new();
    let run = start(&[&informer], 1, runs.reconciler(done));
    runs.reach(1).await;
    let mut added = run
        .handle
        .add_source(Source::new(other.clone(), own_mapper()));
    assert!(added.synced().await);
    runs.reach(2).await;
    drop(added);
    sleep(Duration::from_secs(1)).await;
    send(&other_watch, frame("MODIFIED", &pod("b", 11)));
    sleep(Duration::from_secs(60)).await;
    assert_eq!(runs.names(), ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn stream_enqueues_its_keys_and_its_panic_enqueues_all_objects() {
    let (informer, _watch, _informers) = informer_of(&["a", "b"]);
    let (sender, receiver) = tokio::sync::mpsc::channel::<&str>(4);
    let keys = futures_util::stream::unfold(receiver, |mut receiver| async move {
        let name = receiver.recv().await?;
        assert_ne!(name, "panic");
        Some((vec![ObjectKey::namespaced("shop", name)], receiver))
    });
    let store = informer.store().clone();
    let runs = Runs::new();
    let sources = vec![
        Source::new(informer, own_mapper()),
        Source::stream("bell", keys).enqueue_all_on_panic(store),
    ];
    let run = begin(Controller::new("test", runs.reconciler(done)).sources(sources));
    runs.reach(2).await;
    sender.send("x").await.unwrap();
    runs.reach(3).await;
    sender.send("panic").await.unwrap();
    runs.reach(5).await;
    assert_eq!(runs.names(), ["a", "b", "x", "a", "b"]);
    assert_eq!(run.handle.metrics().mapper_panics, 1);
}

#[tokio::test(start_paused = true)]
async fn workers_run_only_during_terms_and_each_term_begins_with_all_objects() {
    let server = LeaseServer::default();
    let candidate = server.candidate("one", SignedDuration::ZERO);
    server.disconnect("one");
    let (informer, _watch, _informers) = informer_of(&["a", "b"]);
    let runs = Runs::new();
    // The first run hangs, and is aborted at the end of its term.
    let reconcile = runs.reconciler(|number| match number {
        1 => Box::pin(std::future::pending()),
        _ => done(number),
    });
    let source = Source::new(informer.clone(), own_mapper());
    let controller = Controller::new("test", reconcile)
        .sources(vec![source])
        .elected(candidate.leadership.clone(), informer.store().clone());
    let run = begin(controller);
    run.ready.await.expect("ready before the first term");
    sleep(Duration::from_secs(60)).await;
    assert!(runs.names().is_empty(), "{:?}", runs.names());
    server.reconnect("one");
    runs.reach(1).await;
    sleep(Duration::from_secs(5)).await;
    server.disconnect("one");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(runs.names(), ["a"]);
    assert_eq!(run.handle.metrics().active_workers, 0);
    server.reconnect("one");
    runs.reach(3).await;
    sleep(Duration::from_secs(60)).await;
    let mut second = runs.names().split_off(1);
    second.sort();
    assert_eq!(second, ["a", "b"]);
    // The queue is empty, but another leader can have changed something.
    server.disconnect("one");
    sleep(Duration::from_secs(60)).await;
    server.reconnect("one");
    runs.reach(5).await;
    sleep(Duration::from_secs(60)).await;
    let mut third = runs.names().split_off(3);
    third.sort();
    assert_eq!(third, ["a", "b"]);
    run.stop.cancel();
}

/// The error of a write while the API server is overloaded.
fn busy(seconds: u32) -> Failure {
    let status = Status::too_many_requests("too many requests", seconds);
    Failure::from(WriteError::ErrorResponse {
        what: "create pods shop/a".to_owned(),
        source: Box::new(status),
    })
}

#[tokio::test(start_paused = true)]
async fn write_with_a_429_response_is_retried_after_the_delay_of_the_server() {
    let (informer, watch, _informers) = informer_of(&["a"]);
    let runs = Runs::new();
    let reconcile = runs.reconciler(|run| {
        Box::pin(async move {
            match run {
                // The backoff is shorter than the delay, and applies when the delay is 0.
                1 | 2 => Err(busy(30)),
                3 => Err(busy(0)),
                4 => Err(busy(600)),
                _ => Ok(Outcome::done()),
            }
        })
    });
    let _run = start(&[&informer], 1, reconcile);
    runs.reach(4).await;
    let times = runs.times();
    let gaps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (gap, expected) in gaps.iter().zip([30_000, 30_000, 20]) {
        assert!((expected..=expected + 2).contains(gap), "{gaps:?}");
    }
    // An event does not wait for the end of the delay.
    send(&watch, frame("MODIFIED", &pod("a", 11)));
    timeout(Duration::from_secs(1), runs.reach(5))
        .await
        .expect("a run for the event");
}

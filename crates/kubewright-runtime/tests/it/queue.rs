//! Tests of the guarantees of the queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use futures_util::FutureExt as _;
use kubewright_core::ObjectKey;
use kubewright_runtime::RateLimit;
use kubewright_runtime::queue::{
    AddOptions, Added, Backoff, Fairness, Finished, Priority, Queue, QueueOptions,
};
use tokio::time::{Instant, advance};

#[expect(dead_code, reason = "its main")]
#[path = "../../examples/queue.rs"]
mod example;

fn key(name: &str) -> ObjectKey {
    match name.split_once('/') {
        Some((namespace, name)) => ObjectKey::namespaced(namespace, name),
        None => ObjectKey::cluster_scoped(name),
    }
}

fn at(priority: Priority) -> AddOptions {
    AddOptions {
        priority: Some(priority),
        ..AddOptions::default()
    }
}

/// Takes all ready keys and ends their runs.
fn take_all(queue: &Queue) -> Vec<String> {
    let next = || {
        let key = queue.next().now_or_never().flatten()?;
        queue.done(&key);
        Some(key.to_string())
    };
    std::iter::from_fn(next).collect()
}

#[tokio::test(start_paused = true)]
async fn add_replaces_a_delay_and_reports_it() {
    let queue = Queue::new();
    let minute = Duration::from_secs(60);
    assert_eq!(queue.add_after(key("a"), minute), Added::New);
    assert_eq!(queue.add(key("a")), Added::ReplacedDelay);
    assert_eq!(queue.add(key("a")), Added::Merged);
    assert_eq!(queue.metrics().replaced_delays, 1);
    assert_eq!(take_all(&queue), ["a"]);
    advance(minute * 2).await;
    assert!(take_all(&queue).is_empty(), "the delay does not fire again");
}

#[tokio::test(start_paused = true)]
async fn change_overtakes_initial_objects_and_a_retry_keeps_its_priority() {
    let queue = Queue::new();
    for name in ["a", "b", "c"] {
        queue.add_with(key(name), at(Priority::INITIAL));
    }
    queue.add(key("c"));
    assert_eq!(queue.next().await, Some(key("c")));
    assert_eq!(queue.next().await, Some(key("a")));
    queue.add_rate_limited(key("a"));
    queue.done(&key("a"));
    advance(Duration::from_millis(5)).await;
    queue.add(key("d"));
    assert_eq!(
        take_all(&queue),
        ["d", "b", "a"],
        "a keeps the priority of its run"
    );
}

#[tokio::test(start_paused = true)]
async fn one_key_in_eight_is_an_old_one_of_low_priority() {
    let queue = Queue::new();
    queue.add_with(key("old-1"), at(Priority::INITIAL));
    queue.add_with(key("old-2"), at(Priority::INITIAL));
    let mut taken = Vec::new();
    for number in 0..40 {
        advance(Duration::from_millis(100)).await;
        queue.add(key(&format!("new-{number}")));
        queue.add(key(&format!("new-{number}b")));
        let next = queue.next().await.expect("a key");
        queue.done(&next);
        taken.push(next.to_string());
    }
    let old: Vec<_> = (0..40)
        .filter(|index| taken[*index].starts_with("old"))
        .collect();
    // They are old after ten keys, and are then the eighth and the sixteenth.
    assert_eq!(old, [16, 24]);
}

#[tokio::test(start_paused = true)]
async fn namespaces_take_turns_by_option() {
    let queue = Queue::with(QueueOptions {
        fairness: Fairness::Namespaces,
        ..QueueOptions::default()
    });
    for name in ["big/1", "big/2", "big/3", "small/1", "big/4", "small/2"] {
        queue.add(key(name));
    }
    let taken = take_all(&queue);
    assert_eq!(
        taken,
        ["big/1", "small/1", "big/2", "small/2", "big/3", "big/4"]
    );
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_failing_keys_are_requeued_at_the_rate_limit() {
    let queue = Queue::with(QueueOptions {
        backoff: Backoff {
            longest: Duration::from_secs(10),
            ..Backoff::default()
        },
        rate_limit: Some(RateLimit {
            per_second: 1000.0,
            burst: 100,
        }),
        ..QueueOptions::default()
    });
    for number in 0..10_000 {
        queue.add_rate_limited(key(&format!("k{number}")));
    }
    assert_eq!(queue.metrics().delayed, 10_000);
    let start = Instant::now();
    let mut in_first_second = 0;
    for _ in 0..10_000 {
        let next = queue.next().await.expect("a key");
        in_first_second += usize::from(start.elapsed() <= Duration::from_secs(1));
        queue.forget(&next);
        queue.done(&next);
    }
    assert!(
        (1090..=1110).contains(&in_first_second),
        "{in_first_second}"
    );
    let all = start.elapsed().as_millis();
    assert!((9_890..=9_910).contains(&all), "{all} ms");
    assert_eq!(queue.metrics().work_duration.count(), 10_000);
}

#[tokio::test(start_paused = true)]
async fn drain_hands_out_ready_keys_and_waits_for_their_runs() {
    let queue = Queue::new();
    queue.add(key("busy"));
    let busy = queue.next().await.expect("a key");
    queue.add(key("busy"));
    queue.add(key("ready"));
    queue.add_after(key("delayed"), Duration::from_secs(1));
    let mut drained = Box::pin(queue.drain());
    assert!(futures_util::poll!(&mut drained).is_pending());
    assert_eq!(queue.add(key("late")), Added::ShutDown);
    assert_eq!(queue.next().await, Some(key("ready")));
    queue.done(&key("ready"));
    let mut last = Box::pin(queue.next());
    assert!(
        futures_util::poll!(&mut last).is_pending(),
        "busy is handed out again"
    );
    queue.done(&busy);
    assert_eq!(last.await, Some(key("busy")));
    assert_eq!(queue.next().await, None);
    assert!(futures_util::poll!(&mut drained).is_pending());
    queue.done(&key("busy"));
    drained.await;
}

#[tokio::test(start_paused = true)]
async fn metrics_measure_queue_and_work_durations() {
    let queue = Queue::new();
    queue.add(key("a"));
    queue.add(key("a"));
    queue.add_after(key("b"), Duration::from_secs(100));
    advance(Duration::from_secs(2)).await;
    let taken = queue.next().await.expect("a key");
    advance(Duration::from_secs(3)).await;
    let metrics = queue.metrics();
    assert_eq!((metrics.adds, metrics.retries, metrics.delayed), (1, 1, 1));
    assert_eq!(metrics.queue_duration.sum(), Duration::from_secs(2));
    assert_eq!(metrics.longest_running, Duration::from_secs(3));
    assert_eq!(metrics.unfinished_work, Duration::from_secs(3));
    queue.done(&taken);
    let metrics = queue.metrics();
    assert_eq!(metrics.work_duration.sum(), Duration::from_secs(3));
    assert_eq!(metrics.unfinished_work, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn example_hands_out_the_keys_of_its_comments() {
    let database = "shop/database";
    assert_eq!(
        example::run().await,
        ["shop/web", database, database, database]
    );
}

#[tokio::test(start_paused = true)]
async fn next_after_ends_the_run_of_the_key() {
    let queue = Queue::new();
    queue.add(key("a"));
    queue.add(key("b"));
    let first = queue.next().await.expect("a key");
    advance(Duration::from_secs(3)).await;
    queue.add(key("a"));
    assert_eq!(
        queue.next_after(&first, Finished::Keep).await,
        Some(key("b"))
    );
    assert_eq!(queue.metrics().work_duration.sum(), Duration::from_secs(3));
    assert_eq!(
        queue.next_after(&key("b"), Finished::Keep).await,
        Some(key("a"))
    );
    let mut waiting = Box::pin(queue.next_after(&first, Finished::Keep));
    assert!(futures_util::poll!(&mut waiting).is_pending());
    drop(waiting);
    assert_eq!(queue.metrics().processing, 0);
}

/// Counts the calls of a waker.
#[derive(Default)]
struct Calls(AtomicUsize);

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn next_after_wakes_no_worker_for_the_key_that_it_returns() {
    let queue = Queue::new();
    queue.add(key("a"));
    let first = queue.next().await.expect("a key");
    let calls = Arc::new(Calls::default());
    let waker = Waker::from(Arc::clone(&calls));
    let mut waiting = Box::pin(queue.next());
    let mut cx = Context::from_waker(&waker);
    assert!(waiting.poll_unpin(&mut cx).is_pending());
    queue.add(key("a"));
    let again = queue.next_after(&first, Finished::Keep).await;
    assert_eq!(again, Some(key("a")));
    assert_eq!(calls.0.load(Ordering::SeqCst), 0);
    queue.add(key("b"));
    assert_eq!(calls.0.load(Ordering::SeqCst), 1);
    assert_eq!(waiting.await, Some(key("b")));
}

#[tokio::test(start_paused = true)]
async fn next_after_keeps_or_resets_the_failure_count() {
    let queue = Queue::new();
    queue.add(key("a"));
    queue.add(key("b"));
    let first = queue.next().await.expect("a key");
    queue.add_rate_limited(first.clone());
    queue.add_rate_limited(key("b"));
    let second = queue.next_after(&first, Finished::Keep).await;
    assert_eq!(second, Some(key("b")));
    assert_eq!(queue.failures(&first), 1);
    let third = queue.next_after(&key("b"), Finished::Forget).await;
    assert_eq!(third, Some(key("a")), "after the delay");
    assert_eq!(queue.failures(&key("b")), 0);
}

#[tokio::test(start_paused = true)]
async fn failure_count_survives_many_other_keys() {
    let queue = Queue::new();
    queue.add_rate_limited(key("failing"));
    for number in 0..10_000 {
        queue.add(key(&format!("k{number}")));
        queue.add(key(&format!("k{}", number / 2)));
        take_all(&queue);
    }
    assert_eq!(queue.failures(&key("failing")), 1);
    advance(Duration::from_millis(5)).await;
    assert_eq!(take_all(&queue), ["failing"]);
    assert_eq!(
        queue.failures(&key("failing")),
        1,
        "the count was not reset"
    );
}

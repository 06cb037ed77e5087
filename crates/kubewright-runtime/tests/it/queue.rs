//! The queue's promises, one scenario each.

use std::time::Duration;

use futures_util::FutureExt as _;
use kubewright_core::ObjectKey;
use kubewright_runtime::queue::{
    Added, Backoff, Bucket, Fairness, Priority, Queue, QueueOptions, Wish,
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

fn at(priority: Priority) -> Wish {
    Wish {
        priority: Some(priority),
        ..Wish::default()
    }
}

/// Takes what is ready; each is done at once.
fn take_all(queue: &Queue) -> Vec<String> {
    let next = || {
        let key = queue.next().now_or_never().flatten()?;
        queue.done(&key);
        Some(key.to_string())
    };
    std::iter::from_fn(next).collect()
}

#[tokio::test(start_paused = true)]
async fn an_event_takes_the_place_of_a_delay_and_says_so() {
    let queue = Queue::new();
    let minute = Duration::from_secs(60);
    assert_eq!(queue.add_after(key("a"), minute), Added::New);
    assert_eq!(queue.add(key("a")), Added::InPlaceOfDelay);
    assert_eq!(queue.add(key("a")), Added::Merged);
    assert_eq!(queue.metrics().replaced_delays, 1);
    assert_eq!(take_all(&queue), ["a"]);
    advance(minute * 2).await;
    assert!(take_all(&queue).is_empty(), "the delay does not fire again");
}

#[tokio::test(start_paused = true)]
async fn a_change_overtakes_the_objects_of_the_start_and_its_retry_keeps_its_place() {
    let queue = Queue::new();
    for name in ["a", "b", "c"] {
        queue.wish(key(name), at(Priority::INITIAL));
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
        "a failed as one of the start"
    );
}

#[tokio::test(start_paused = true)]
async fn old_keys_of_low_priority_get_one_turn_in_eight() {
    let queue = Queue::new();
    queue.wish(key("old-1"), at(Priority::INITIAL));
    queue.wish(key("old-2"), at(Priority::INITIAL));
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
        .filter(|one| taken[*one].starts_with("old"))
        .collect();
    // They are old after ten, and then the eighth and the sixteenth.
    assert_eq!(old, [16, 24]);
}

#[tokio::test(start_paused = true)]
async fn a_large_namespace_does_not_hold_up_a_small_one_when_asked_for() {
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
async fn ten_thousand_keys_that_fail_at_once_come_back_at_the_rate_of_the_bucket() {
    let queue = Queue::with(QueueOptions {
        backoff: Backoff {
            longest: Duration::from_secs(10),
            ..Backoff::default()
        },
        bucket: Some(Bucket {
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
async fn a_drain_hands_out_what_is_ready_and_waits_for_its_end() {
    let queue = Queue::new();
    queue.add(key("busy"));
    let busy = queue.next().await.expect("a key");
    queue.add(key("busy"));
    queue.add(key("ready"));
    queue.add_after(key("delayed"), Duration::from_secs(1));
    let mut drained = Box::pin(queue.drain());
    assert!(futures_util::poll!(&mut drained).is_pending());
    assert_eq!(queue.add(key("late")), Added::Refused);
    assert_eq!(queue.next().await, Some(key("ready")));
    queue.done(&key("ready"));
    let mut last = Box::pin(queue.next());
    assert!(
        futures_util::poll!(&mut last).is_pending(),
        "busy comes again"
    );
    queue.done(&busy);
    assert_eq!(last.await, Some(key("busy")));
    assert_eq!(queue.next().await, None);
    assert!(futures_util::poll!(&mut drained).is_pending());
    queue.done(&key("busy"));
    drained.await;
}

#[tokio::test(start_paused = true)]
async fn the_metrics_tell_how_long_keys_waited_and_were_worked_on() {
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
async fn the_example_hands_out_what_it_says() {
    let database = "shop/database";
    assert_eq!(
        example::run().await,
        ["shop/web", database, database, database]
    );
}

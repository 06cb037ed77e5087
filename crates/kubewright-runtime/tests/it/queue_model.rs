//! Compares the queue with a naive model under random operations.

use std::time::Duration;

use futures_util::FutureExt as _;
use kubewright_core::ObjectKey;
use kubewright_runtime::queue::{
    AddOptions, Added, Aging, Finished, Priority, Queue, QueueOptions,
};
use proptest::prelude::{
    Just, ProptestConfig, Strategy, prop, prop_assert_eq, prop_oneof, proptest,
};
use proptest::test_runner::TestCaseError;

const KEYS: usize = 5;
const PRIORITIES: [i32; 3] = [-100, 0, 7];
/// One key in three is one that has waited for this number of milliseconds.
const AGED: u64 = 25;
const EVERY: u32 = 3;

#[derive(Clone, Debug)]
enum Step {
    Add(usize, i32),
    AddAfter(usize, u64, Option<i32>),
    Fail(usize),
    Forget(usize),
    Take,
    Done(usize),
    TakeAfter(usize, Finished),
    Advance(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || 0..KEYS;
    let priority = || (0..PRIORITIES.len()).prop_map(|index| PRIORITIES[index]);
    let finished = || prop_oneof![Just(Finished::Forget), Just(Finished::Keep)];
    let step = prop_oneof![
        4 => (key(), priority()).prop_map(|(key, priority)| Step::Add(key, priority)),
        2 => (key(), 0_u64..40, prop::option::of(priority()))
            .prop_map(|(key, delay, priority)| Step::AddAfter(key, delay, priority)),
        1 => key().prop_map(Step::Fail),
        1 => key().prop_map(Step::Forget),
        5 => Just(Step::Take),
        4 => key().prop_map(Step::Done),
        2 => (key(), finished()).prop_map(|(key, finished)| Step::TakeAfter(key, finished)),
        2 => (0_u64..30).prop_map(Step::Advance),
    ];
    prop::collection::vec(step, 1..120)
}

/// When a queued key becomes ready, the number of its addition, and its priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Queued {
    at: u64,
    number: u64,
    priority: i32,
}

#[derive(Default)]
struct Model {
    now: u64,
    additions: u64,
    queued: [Option<Queued>; KEYS],
    /// The priorities of the keys that are being processed.
    processing: [Option<i32>; KEYS],
    failures: [u32; KEYS],
    passed_over: u32,
}

impl Model {
    fn add(&mut self, key: usize, at: u64, priority: Option<i32>) -> Added {
        let priority = priority.or(self.processing[key]).unwrap_or_default();
        self.additions += 1;
        let mut entry = Queued {
            at,
            number: self.additions,
            priority,
        };
        let Some(present) = self.queued[key] else {
            self.queued[key] = Some(entry);
            return Added::New;
        };
        if present.at > self.now {
            entry.priority = priority.max(present.priority);
            if at >= present.at {
                (entry.at, entry.number) = (present.at, present.number);
            }
            self.queued[key] = Some(entry);
            return if at == self.now {
                Added::ReplacedDelay
            } else {
                Added::Merged
            };
        }
        // The key is ready: a higher priority moves it to the end of another lane.
        if priority > present.priority {
            entry.at = self.now;
            self.queued[key] = Some(entry);
        }
        Added::Merged
    }

    fn take(&mut self) -> Option<usize> {
        let ready: Vec<_> = (0..KEYS)
            .filter(|key| self.processing[*key].is_none())
            .filter_map(|key| Some((self.queued[key]?, key)))
            .filter(|(entry, _)| entry.at <= self.now)
            .collect();
        let highest = ready.iter().map(|(entry, _)| entry.priority).max()?;
        let aged = ready.iter().filter(|(entry, _)| {
            let lane = ready
                .iter()
                .filter(|(other, _)| other.priority == entry.priority);
            let is_first = lane.min().is_some_and(|(first, _)| first == entry);
            is_first && entry.priority < highest && self.now - entry.at >= AGED
        });
        let aged = aged.min().copied();
        self.passed_over = aged.map_or(0, |_| self.passed_over + 1);
        let chosen = match aged {
            Some(aged) if self.passed_over == EVERY => {
                self.passed_over = 0;
                Some(aged)
            }
            _ => {
                let lane = ready.iter().filter(|(other, _)| other.priority == highest);
                lane.min().copied()
            }
        };
        let (entry, key) = chosen?;
        self.queued[key] = None;
        self.processing[key] = Some(entry.priority);
        Some(key)
    }

    fn done(&mut self, key: usize) {
        if self.processing[key].take().is_none() {
            return;
        }
        // Added during the run: ready from now on, behind the other ready keys.
        if let Some(entry) = self.queued[key]
            && entry.at <= self.now
        {
            self.queued[key] = None;
            self.add(key, self.now, Some(entry.priority));
        }
    }

    /// The numbers of ready, delayed and processed keys.
    fn counts(&self) -> (usize, usize, usize) {
        let queued = || (0..KEYS).filter_map(|key| Some((key, self.queued[key]?)));
        let is_ready = |(key, entry): &(usize, Queued)| {
            entry.at <= self.now && self.processing[*key].is_none()
        };
        (
            queued().filter(is_ready).count(),
            queued().filter(|(_, entry)| entry.at > self.now).count(),
            self.processing.iter().flatten().count(),
        )
    }
}

fn key(key: usize) -> ObjectKey {
    ObjectKey::namespaced("shop", &format!("k{key}"))
}

fn options(after: u64, priority: Option<i32>) -> AddOptions {
    AddOptions {
        priority: priority.map(Priority),
        after: Duration::from_millis(after),
    }
}

async fn run(steps: &[Step]) -> Result<(), TestCaseError> {
    let queue = Queue::with(QueueOptions {
        aging: Aging {
            after: Duration::from_millis(AGED),
            every: EVERY,
        },
        ..QueueOptions::default()
    });
    let mut model = Model::default();
    for step in steps {
        match *step {
            Step::Add(name, priority) => {
                let added = queue.add_with(key(name), options(0, Some(priority)));
                prop_assert_eq!(added, model.add(name, model.now, Some(priority)));
            }
            Step::AddAfter(name, delay, priority) => {
                let added = queue.add_with(key(name), options(delay, priority));
                prop_assert_eq!(added, model.add(name, model.now + delay, priority));
            }
            Step::Fail(name) => {
                let added = queue.add_rate_limited(key(name));
                let at = model.now + (5 << model.failures[name]);
                prop_assert_eq!(added, model.add(name, at, None));
                model.failures[name] += 1;
            }
            Step::Forget(name) => {
                queue.forget(&key(name));
                model.failures[name] = 0;
            }
            Step::Take => {
                let taken = queue.next().now_or_never().flatten();
                prop_assert_eq!(taken, model.take().map(key));
                let metrics = queue.metrics();
                let depth = metrics.depth.values().sum::<usize>();
                let counts = (depth, metrics.delayed, metrics.processing);
                prop_assert_eq!(counts, model.counts());
            }
            Step::Done(name) => {
                queue.done(&key(name));
                model.done(name);
            }
            Step::TakeAfter(name, finished) => {
                let next = queue.next_after(&key(name), finished).now_or_never();
                if finished == Finished::Forget && model.processing[name].is_some() {
                    model.failures[name] = 0;
                }
                model.done(name);
                let taken = next.flatten();
                prop_assert_eq!(taken, model.take().map(key));
            }
            Step::Advance(time) => {
                tokio::time::advance(Duration::from_millis(time)).await;
                model.now += time;
            }
        }
        for name in 0..KEYS {
            prop_assert_eq!(queue.failures(&key(name)), model.failures[name]);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn queue_behaves_like_the_model(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(run(&steps))?;
    }
}

#[tokio::test(start_paused = true)]
async fn end_of_a_delay_wakes_a_waiting_worker() {
    let queue = Queue::new();
    let start = tokio::time::Instant::now();
    queue.add_after(key(1), Duration::from_secs(60));
    queue.add_after(key(2), Duration::from_secs(30));
    assert_eq!(queue.next().await, Some(key(2)));
    assert_eq!(start.elapsed(), Duration::from_secs(30));
    assert_eq!(queue.next().await, Some(key(1)));
    assert_eq!(start.elapsed(), Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn remaining_worker_receives_a_delayed_key_when_another_is_dropped() {
    let queue = Queue::new();
    let mut dropped = Box::pin(queue.next());
    let mut remaining = Box::pin(queue.next());
    assert!(futures_util::poll!(&mut dropped).is_pending());
    assert!(futures_util::poll!(&mut remaining).is_pending());
    queue.add_after(key(1), Duration::from_secs(5));
    assert!(futures_util::poll!(&mut dropped).is_pending());
    drop(dropped);
    assert_eq!(remaining.await, Some(key(1)));
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_waiting_workers_and_accepts_no_keys() {
    let queue = Queue::new();
    queue.add(key(1));
    let busy = queue.next().await.unwrap();
    let mut waiting = Box::pin(queue.next());
    assert!(futures_util::poll!(&mut waiting).is_pending());
    queue.shut_down();
    assert_eq!(waiting.await, None);
    queue.add(key(1));
    queue.add(key(3));
    queue.done(&busy);
    assert!(queue.is_empty());
    assert_eq!(queue.next().await, None);
}

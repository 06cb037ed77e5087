//! Random work on the queue, beside a naive queue that looks at every key each time.

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
/// When a key has waited so many milliseconds, every third taken is such a one.
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

/// When a key is wanted, how manieth wish that was, and how urgent it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wanted {
    at: u64,
    number: u64,
    priority: i32,
}

#[derive(Default)]
struct Model {
    now: u64,
    wishes: u64,
    wanted: [Option<Wanted>; KEYS],
    /// With which priority, for those with a worker.
    under_way: [Option<i32>; KEYS],
    failures: [u32; KEYS],
    passed_over: u32,
}

impl Model {
    fn want(&mut self, key: usize, at: u64, priority: Option<i32>) -> Added {
        let priority = priority.or(self.under_way[key]).unwrap_or_default();
        self.wishes += 1;
        let mut wish = Wanted {
            at,
            number: self.wishes,
            priority,
        };
        let Some(present) = self.wanted[key] else {
            self.wanted[key] = Some(wish);
            return Added::New;
        };
        if present.at > self.now {
            wish.priority = priority.max(present.priority);
            if at >= present.at {
                (wish.at, wish.number) = (present.at, present.number);
            }
            self.wanted[key] = Some(wish);
            return match at == self.now {
                true => Added::ReplacedDelay,
                false => Added::Merged,
            };
        }
        // It stands in line: one that is more urgent goes to the end of another line.
        if priority > present.priority {
            wish.at = self.now;
            self.wanted[key] = Some(wish);
        }
        Added::Merged
    }

    fn take(&mut self) -> Option<usize> {
        let ready = (0..KEYS).filter(|key| self.under_way[*key].is_none());
        let ready = ready.filter_map(|key| Some((self.wanted[key]?, key)));
        let ready: Vec<_> = ready.filter(|(wish, _)| wish.at <= self.now).collect();
        let highest = ready.iter().map(|(wish, _)| wish.priority).max()?;
        let aged = ready.iter().filter(|(wish, _)| {
            let line = ready
                .iter()
                .filter(|(one, _)| one.priority == wish.priority);
            let is_first = line.min().is_some_and(|(first, _)| first == wish);
            is_first && wish.priority < highest && self.now - wish.at >= AGED
        });
        let aged = aged.min().copied();
        self.passed_over = aged.map_or(0, |_| self.passed_over + 1);
        let chosen = match aged {
            Some(aged) if self.passed_over == EVERY => {
                self.passed_over = 0;
                Some(aged)
            }
            _ => {
                let line = ready.iter().filter(|(one, _)| one.priority == highest);
                line.min().copied()
            }
        };
        let (wish, key) = chosen?;
        self.wanted[key] = None;
        self.under_way[key] = Some(wish.priority);
        Some(key)
    }

    fn done(&mut self, key: usize) {
        if self.under_way[key].take().is_none() {
            return;
        }
        // Wanted meanwhile: ready from now on, behind those who are.
        if let Some(wish) = self.wanted[key]
            && wish.at <= self.now
        {
            self.wanted[key] = None;
            self.want(key, self.now, Some(wish.priority));
        }
    }

    /// How many stand in line, wait for a delay, and are with a worker.
    fn counts(&self) -> (usize, usize, usize) {
        let wanted = || (0..KEYS).filter_map(|key| Some((key, self.wanted[key]?)));
        let in_line =
            |(key, wish): &(usize, Wanted)| wish.at <= self.now && self.under_way[*key].is_none();
        (
            wanted().filter(in_line).count(),
            wanted().filter(|(_, wish)| wish.at > self.now).count(),
            self.under_way.iter().flatten().count(),
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
                prop_assert_eq!(added, model.want(name, model.now, Some(priority)));
            }
            Step::AddAfter(name, delay, priority) => {
                let added = queue.add_with(key(name), options(delay, priority));
                prop_assert_eq!(added, model.want(name, model.now + delay, priority));
            }
            Step::Fail(name) => {
                let added = queue.add_rate_limited(key(name));
                let at = model.now + (5 << model.failures[name]);
                prop_assert_eq!(added, model.want(name, at, None));
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
                if finished == Finished::Forget && model.under_way[name].is_some() {
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
    fn keys_come_by_priority_age_and_arrival_and_never_to_two_workers(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(run(&steps))?;
    }
}

#[tokio::test(start_paused = true)]
async fn a_delay_wakes_a_waiting_worker_when_it_is_over() {
    let queue = Queue::new();
    let began = tokio::time::Instant::now();
    queue.add_after(key(1), Duration::from_secs(60));
    queue.add_after(key(2), Duration::from_secs(30));
    assert_eq!(queue.next().await, Some(key(2)));
    assert_eq!(began.elapsed(), Duration::from_secs(30));
    assert_eq!(queue.next().await, Some(key(1)));
    assert_eq!(began.elapsed(), Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn every_worker_knows_of_a_delay_so_that_one_of_them_may_go() {
    let queue = Queue::new();
    let mut leaving = Box::pin(queue.next());
    let mut staying = Box::pin(queue.next());
    assert!(futures_util::poll!(&mut leaving).is_pending());
    assert!(futures_util::poll!(&mut staying).is_pending());
    queue.add_after(key(1), Duration::from_secs(5));
    assert!(futures_util::poll!(&mut leaving).is_pending());
    drop(leaving);
    assert_eq!(staying.await, Some(key(1)));
}

#[tokio::test(start_paused = true)]
async fn shutting_down_frees_waiting_workers_and_takes_nothing_more_in() {
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

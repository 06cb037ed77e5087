//! Random work on the queue, beside a naive queue that looks at every key each time.

use std::time::Duration;

use futures_util::FutureExt as _;
use kubewright_core::ObjectKey;
use kubewright_runtime::queue::Queue;
use proptest::prelude::{
    Just, ProptestConfig, Strategy, prop, prop_assert_eq, prop_oneof, proptest,
};
use proptest::test_runner::TestCaseError;

const KEYS: usize = 4;

#[derive(Clone, Debug)]
enum Step {
    Add(usize),
    AddAfter(usize, u64),
    Fail(usize),
    Forget(usize),
    Take,
    Done(usize),
    Advance(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = 0..KEYS;
    let step = prop_oneof![
        3 => key.clone().prop_map(Step::Add),
        2 => (key.clone(), 0_u64..40).prop_map(|(key, delay)| Step::AddAfter(key, delay)),
        1 => key.clone().prop_map(Step::Fail),
        1 => key.clone().prop_map(Step::Forget),
        4 => Just(Step::Take),
        3 => key.prop_map(Step::Done),
        2 => (0_u64..30).prop_map(Step::Advance),
    ];
    prop::collection::vec(step, 1..80)
}

/// When a key is wanted, and how manieth wish that was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wish {
    at: u64,
    number: u64,
}

#[derive(Default)]
struct Model {
    now: u64,
    wishes: u64,
    wanted: [Option<Wish>; KEYS],
    /// Since when, for those with a worker.
    under_way: [bool; KEYS],
    failures: [u32; KEYS],
}

impl Model {
    fn want(&mut self, key: usize, at: u64) {
        self.wishes += 1;
        let wish = Wish {
            at,
            number: self.wishes,
        };
        // The earliest counts; what is over already cannot be beaten.
        if self.wanted[key].is_none_or(|present| wish.at < present.at && present.at > self.now) {
            self.wanted[key] = Some(wish);
        }
    }

    fn take(&mut self) -> Option<usize> {
        let ready = (0..KEYS).filter(|key| !self.under_way[*key]);
        let wished = ready.filter_map(|key| Some((self.wanted[key]?, key)));
        let (wish, key) = wished.min()?;
        if wish.at > self.now {
            return None;
        }
        self.wanted[key] = None;
        self.under_way[key] = true;
        Some(key)
    }

    fn done(&mut self, key: usize) {
        if !self.under_way[key] {
            return;
        }
        self.under_way[key] = false;
        // Wanted meanwhile: ready from now on, behind those who are.
        if self.wanted[key].is_some_and(|wish| wish.at <= self.now) {
            self.wanted[key] = None;
            self.want(key, self.now);
        }
    }
}

fn key(key: usize) -> ObjectKey {
    ObjectKey::namespaced("shop", &format!("k{key}"))
}

async fn run(steps: &[Step]) -> Result<(), TestCaseError> {
    let queue = Queue::new();
    let mut model = Model::default();
    for step in steps {
        match *step {
            Step::Add(name) => {
                queue.add(key(name));
                model.want(name, model.now);
            }
            Step::AddAfter(name, delay) => {
                queue.add_after(key(name), Duration::from_millis(delay));
                model.want(name, model.now + delay);
            }
            Step::Fail(name) => {
                queue.add_rate_limited(key(name));
                model.want(name, model.now + (5 << model.failures[name]));
                model.failures[name] += 1;
            }
            Step::Forget(name) => {
                queue.forget(&key(name));
                model.failures[name] = 0;
            }
            Step::Take => {
                let taken = queue.next().now_or_never().flatten();
                prop_assert_eq!(taken, model.take().map(key));
            }
            Step::Done(name) => {
                queue.done(&key(name));
                model.done(name);
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
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn keys_come_in_the_order_they_became_ready_and_never_to_two_workers(steps in steps()) {
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

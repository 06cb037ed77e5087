//! Tests of the queue in every order in which threads can take its lock, with a limited number of
//! preemptions.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use kubewright_core::ObjectKey;
use loom::future::block_on;
use loom::model::Builder;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::{Added, Finished, Queue};

pub(super) fn model(preemptions: usize, test: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(test);
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::cluster_scoped(name)
}

/// Processes keys until the queue is shut down, and returns their number.
type Work = fn(&Queue, &AtomicUsize) -> usize;

fn work(queue: &Queue, inside: &AtomicUsize) -> usize {
    let mut keys = 0;
    while let Some(key) = block_on(queue.next()) {
        assert_exclusive(inside);
        keys += 1;
        queue.done(&key);
    }
    keys
}

fn work_with_next_after(queue: &Queue, inside: &AtomicUsize) -> usize {
    let mut keys = 0;
    let mut next = block_on(queue.next());
    while let Some(key) = next {
        assert_exclusive(inside);
        keys += 1;
        next = block_on(queue.next_after(&key, Finished::Forget));
    }
    keys
}

pub(super) fn assert_exclusive(inside: &AtomicUsize) {
    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two at once");
    inside.fetch_sub(1, Ordering::SeqCst);
}

#[test]
fn key_has_at_most_one_worker_and_an_add_during_its_run_is_not_lost() {
    model(2, || {
        let queue = Queue::new();
        let inside = Arc::new(AtomicUsize::new(0));
        queue.add(key("a"));
        let works: [Work; 2] = [work, work_with_next_after];
        let workers = works.map(|work| {
            let (queue, inside) = (queue.clone(), Arc::clone(&inside));
            thread::spawn(move || work(&queue, &inside))
        });
        let merged = queue.add(key("a")) == Added::Merged;
        block_on(queue.drain());
        let runs = workers.map(|worker| worker.join().expect("the worker ends"));
        let runs: usize = runs.iter().sum();
        assert!(runs == 2 || runs == 1 && merged, "{runs}");
    });
}

#[test]
fn each_of_two_keys_wakes_a_worker() {
    model(2, || {
        let queue = Queue::new();
        let workers = [(), ()].map(|()| {
            let queue = queue.clone();
            thread::spawn(move || block_on(queue.next()).expect("a key"))
        });
        queue.add(key("a"));
        queue.add(key("b"));
        let mut keys = workers.map(|worker| worker.join().expect("the worker ends").to_string());
        keys.sort();
        assert_eq!(keys, ["a", "b"]);
    });
}

#[test]
fn dropped_next_wakes_another_worker() {
    model(2, || {
        let queue = Queue::new();
        let adder = {
            let queue = queue.clone();
            thread::spawn(move || queue.add(key("a")))
        };
        let waiter = {
            let queue = queue.clone();
            thread::spawn(move || block_on(queue.next()).expect("a key"))
        };
        {
            let mut leaving = pin!(queue.next());
            let mut cx = Context::from_waker(Waker::noop());
            if let std::task::Poll::Ready(Some(key)) = leaving.as_mut().poll(&mut cx) {
                queue.done(&key);
                queue.add(key);
            }
        }
        adder.join().expect("the adder ends");
        assert_eq!(waiter.join().expect("the waiter ends"), key("a"));
    });
}

#[test]
fn dropped_next_after_wakes_another_worker() {
    model(2, || {
        let queue = Queue::new();
        queue.add(key("a"));
        let mine = block_on(queue.next()).expect("a key");
        let adder = {
            let queue = queue.clone();
            thread::spawn(move || queue.add(key("a")))
        };
        let waiter = {
            let queue = queue.clone();
            thread::spawn(move || block_on(queue.next()).expect("a key"))
        };
        {
            let mut leaving = pin!(queue.next_after(&mine, Finished::Keep));
            let mut cx = Context::from_waker(Waker::noop());
            if let std::task::Poll::Ready(Some(key)) = leaving.as_mut().poll(&mut cx) {
                queue.done(&key);
                queue.add(key);
            }
        }
        adder.join().expect("the adder ends");
        assert_eq!(waiter.join().expect("the waiter ends"), key("a"));
    });
}

fn drains(work: Work) {
    model(2, move || {
        let queue = Queue::new();
        let inside = Arc::new(AtomicUsize::new(0));
        queue.add(key("a"));
        let worker = {
            let (queue, inside) = (queue.clone(), Arc::clone(&inside));
            thread::spawn(move || work(&queue, &inside))
        };
        block_on(queue.drain());
        assert_eq!(inside.load(Ordering::SeqCst), 0);
        assert_eq!(worker.join().expect("the worker ends"), 1);
    });
}

#[test]
fn drain_ends_after_the_last_key() {
    drains(work);
}

#[test]
fn drain_ends_after_the_last_key_of_a_worker_that_uses_next_after() {
    drains(work_with_next_after);
}

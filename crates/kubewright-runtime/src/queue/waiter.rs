//! A worker that waits for a key.

use std::collections::VecDeque;
use std::task::{Poll, Waker};

use hashbrown::DefaultHashBuilder;
use tokio::time::Instant;

use super::finished::FinishedKey;
use super::lock::Mutex;
use super::schedule::{Next, Schedule, Wake};

/// The data under the lock of a queue: the keys, and the workers that wait for one.
#[derive(Debug)]
pub(super) struct QueueState {
    pub(super) schedule: Schedule,
    workers: VecDeque<WaitingWorker>,
    numbers: u64,
    /// The tasks that wait for the end of the last key.
    drains: Vec<Waker>,
}

/// A worker that waits for a key.
#[derive(Debug)]
pub(super) struct WaitingWorker {
    number: u64,
    waker: Waker,
}

/// The wakers to call after the lock is released.
#[must_use = "workers that were removed from the list must be woken"]
pub(super) enum Wakers {
    None,
    One(Waker),
    All(VecDeque<WaitingWorker>, Vec<Waker>),
}

impl Wakers {
    pub(super) fn wake(self) {
        match self {
            Self::None => {}
            Self::One(waker) => waker.wake(),
            Self::All(workers, drains) => {
                let workers = workers.into_iter().map(|worker| worker.waker);
                workers.chain(drains).for_each(Waker::wake);
            }
        }
    }
}

impl QueueState {
    pub(super) fn new(schedule: Schedule) -> Self {
        Self {
            schedule,
            workers: VecDeque::new(),
            numbers: 0,
            drains: Vec::new(),
        }
    }

    /// Ends the run of a key.
    pub(super) fn done(
        &mut self,
        finished: FinishedKey<'_>,
        hasher: &DefaultHashBuilder,
        now: Instant,
    ) -> Wakers {
        let wake = self.schedule.done(finished, hasher, now);
        self.take_wakers(wake)
    }

    /// Removes the workers to wake from the list.
    pub(super) fn take_wakers(&mut self, wake: Wake) -> Wakers {
        match wake {
            _ if self.schedule.is_over() => self.take_all(),
            Wake::None => Wakers::None,
            Wake::One => match self.workers.pop_front() {
                Some(worker) => Wakers::One(worker.waker),
                None => Wakers::None,
            },
            Wake::All => self.take_all(),
        }
    }

    fn take_all(&mut self) -> Wakers {
        let workers = std::mem::take(&mut self.workers);
        Wakers::All(workers, std::mem::take(&mut self.drains))
    }

    /// Ready when the last key is done. Otherwise `waker` is called then.
    pub(super) fn poll_drained(&mut self, waker: &Waker) -> Poll<()> {
        if self.schedule.is_over() {
            return Poll::Ready(());
        }
        if !self.drains.iter().any(|drain| drain.will_wake(waker)) {
            self.drains.push(waker.clone());
        }
        Poll::Pending
    }

    /// Removes a worker from the list; false when it was not in it.
    fn remove(&mut self, number: u64) -> bool {
        let mut workers = self.workers.iter();
        let index = workers.position(|worker| worker.number == number);
        index.is_some_and(|index| self.workers.remove(index).is_some())
    }
}

/// A call that waits for a key.
///
/// When it is dropped after it was woken and before it took a key, it wakes another worker.
pub(super) struct Waiter<'q> {
    state: &'q Mutex<QueueState>,
    /// The number in the list of waiting workers.
    number: Option<u64>,
}

impl<'q> Waiter<'q> {
    pub(super) fn new(state: &'q Mutex<QueueState>) -> Self {
        Self {
            state,
            number: None,
        }
    }

    /// Returns the next step. If there is no key, `waker` is called when there is one.
    pub(super) fn next(&mut self, now: Instant, waker: &Waker) -> Next {
        let mut state = self.state.lock();
        self.poll(&mut state, now, waker)
    }

    /// Ends the run of a key and returns the next step.
    pub(super) fn next_after(
        &mut self,
        finished: FinishedKey<'_>,
        hasher: &DefaultHashBuilder,
        now: Instant,
        waker: &Waker,
    ) -> Next {
        let mut state = self.state.lock();
        let wake = state.schedule.done(finished, hasher, now);
        let next = self.poll(&mut state, now, waker);
        // No worker has to be woken for a key that this worker takes itself.
        let wake = match wake {
            Wake::One if state.schedule.ready() == 0 => Wake::None,
            wake => wake,
        };
        let wakers = state.take_wakers(wake);
        drop(state);
        wakers.wake();
        next
    }

    fn poll(&mut self, state: &mut QueueState, now: Instant, waker: &Waker) -> Next {
        if let Some(number) = self.number.take() {
            state.remove(number);
        }
        let next = state.schedule.next(now);
        if matches!(next, Next::Wait(_)) {
            state.numbers += 1;
            let number = state.numbers;
            state.workers.push_back(WaitingWorker {
                number,
                waker: waker.clone(),
            });
            self.number = Some(number);
        }
        next
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut state = self.state.lock();
        if state.remove(number) {
            return;
        }
        let wakers = state.take_wakers(Wake::One);
        drop(state);
        wakers.wake();
    }
}

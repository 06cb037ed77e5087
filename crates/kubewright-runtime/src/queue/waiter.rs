use std::collections::VecDeque;
use std::task::{Poll, Waker};

use hashbrown::DefaultHashBuilder;
use tokio::time::Instant;

use super::finished::Done;
use super::lock::Mutex;
use super::waiting::{Next, Waiting, Wake};

/// What the lock guards: the keys, and the workers that wait for one.
#[derive(Debug)]
pub(super) struct State {
    pub(super) waiting: Waiting,
    workers: VecDeque<(u64, Waker)>,
    numbers: u64,
    /// Who waits for the end of the last key.
    watchers: Vec<Waker>,
}

/// Workers to be woken once the lock is free.
#[must_use = "workers that were taken from the line must be woken"]
pub(super) enum Woken {
    Nobody,
    One(Waker),
    All(VecDeque<(u64, Waker)>, Vec<Waker>),
}

impl Woken {
    pub(super) fn wake(self) {
        match self {
            Self::Nobody => {}
            Self::One(waker) => waker.wake(),
            Self::All(workers, watchers) => {
                let workers = workers.into_iter().map(|(_, waker)| waker);
                workers.chain(watchers).for_each(Waker::wake);
            }
        }
    }
}

impl State {
    pub(super) fn new(waiting: Waiting) -> Self {
        Self {
            waiting,
            workers: VecDeque::new(),
            numbers: 0,
            watchers: Vec::new(),
        }
    }

    /// Ends the work on a key.
    pub(super) fn done(
        &mut self,
        done: Done<'_>,
        hasher: &DefaultHashBuilder,
        now: Instant,
    ) -> Woken {
        let wake = self.waiting.done(done, hasher, now);
        self.call(wake)
    }

    /// Takes those out of the line who have to look again.
    pub(super) fn call(&mut self, wake: Wake) -> Woken {
        match wake {
            _ if self.waiting.is_over() => self.everybody(),
            Wake::Nobody => Woken::Nobody,
            Wake::One => match self.workers.pop_front() {
                Some((_, waker)) => Woken::One(waker),
                None => Woken::Nobody,
            },
            Wake::All => self.everybody(),
        }
    }

    fn everybody(&mut self) -> Woken {
        let workers = std::mem::take(&mut self.workers);
        Woken::All(workers, std::mem::take(&mut self.watchers))
    }

    /// Whether the last key is done; if not, `waker` hears of it.
    pub(super) fn over(&mut self, waker: &Waker) -> Poll<()> {
        if self.waiting.is_over() {
            return Poll::Ready(());
        }
        if !self.watchers.iter().any(|one| one.will_wake(waker)) {
            self.watchers.push(waker.clone());
        }
        Poll::Pending
    }

    /// True when the worker was in line.
    fn leave(&mut self, number: u64) -> bool {
        let index = self.workers.iter().position(|(one, _)| *one == number);
        index.is_some_and(|index| self.workers.remove(index).is_some())
    }
}

/// A worker that wants a key.
///
/// Whoever is called and goes away without having looked passes the call on.
pub(super) struct Waiter<'q> {
    state: &'q Mutex<State>,
    number: Option<u64>,
}

impl<'q> Waiter<'q> {
    pub(super) fn new(state: &'q Mutex<State>) -> Self {
        Self {
            state,
            number: None,
        }
    }

    /// What there is for the worker; with nothing, it stands in line and is woken through `waker`.
    pub(super) fn next(&mut self, now: Instant, waker: &Waker) -> Next {
        let mut state = self.state.lock();
        self.look(&mut state, now, waker)
    }

    /// The same for a worker who is done with a key.
    pub(super) fn next_after(
        &mut self,
        done: Done<'_>,
        hasher: &DefaultHashBuilder,
        now: Instant,
        waker: &Waker,
    ) -> Next {
        let mut state = self.state.lock();
        let wake = state.waiting.done(done, hasher, now);
        let next = self.look(&mut state, now, waker);
        // Nobody has to come for a key that this worker takes itself.
        let wake = match wake {
            Wake::One if state.waiting.ready() == 0 => Wake::Nobody,
            wake => wake,
        };
        let woken = state.call(wake);
        drop(state);
        woken.wake();
        next
    }

    fn look(&mut self, state: &mut State, now: Instant, waker: &Waker) -> Next {
        if let Some(number) = self.number.take() {
            state.leave(number);
        }
        let next = state.waiting.next(now);
        if matches!(next, Next::Wait(_)) {
            state.numbers += 1;
            let number = state.numbers;
            state.workers.push_back((number, waker.clone()));
            self.number = Some(number);
        }
        next
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut state = self.state.lock();
        if state.leave(number) {
            return;
        }
        let woken = state.call(Wake::One);
        drop(state);
        woken.wake();
    }
}

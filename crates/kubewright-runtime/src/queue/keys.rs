use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hashbrown::DefaultHashBuilder;
use kubewright_core::ObjectKey;
use tokio::time::{Instant, Sleep, sleep_until};

use super::entries::Hashed;
use super::finished::Done;
use super::lock::Mutex;
use super::waiter::{State, Waiter};
use super::waiting::{Next, Waiting, Wake};
use super::{AddOptions, Added, Finished, Metrics, Priority, QueueOptions};

/// A queue of keys, shared by those who add and those who work. Cloning shares it.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// use kubewright_core::ObjectKey;
/// use kubewright_runtime::queue::Queue;
///
/// let queue = Queue::new();
/// let web = ObjectKey::namespaced("shop", "web");
/// queue.add(web.clone());
/// queue.add(web.clone());
/// while let Some(key) = queue.next().await {
///     assert_eq!(key, web);
///     queue.forget(&key);
///     queue.done(&key);
///     queue.shut_down();
/// }
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Queue {
    state: Arc<Mutex<State>>,
    hasher: DefaultHashBuilder,
}

impl Default for Queue {
    fn default() -> Self {
        Self::new()
    }
}

impl Queue {
    /// An empty queue as most need it.
    pub fn new() -> Self {
        Self::with(QueueOptions::default())
    }

    /// An empty queue.
    pub fn with(options: QueueOptions) -> Self {
        Self {
            state: Arc::new(Mutex::new(State::new(Waiting::new(options)))),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// Wants the key handed out as soon as a worker is free; a delay that it had is over.
    pub fn add(&self, key: ObjectKey) -> Added {
        self.add_with(
            key,
            AddOptions {
                priority: Some(Priority::NORMAL),
                after: Duration::ZERO,
            },
        )
    }

    /// Wants the key handed out after a delay, unless it is wanted earlier already.
    pub fn add_after(&self, key: ObjectKey, delay: Duration) -> Added {
        self.add_with(
            key,
            AddOptions {
                priority: None,
                after: delay,
            },
        )
    }

    /// Wants the key handed out when and as urgently as the options say. Of two requests the higher
    /// priority counts and the earlier time.
    pub fn add_with(&self, key: ObjectKey, options: AddOptions) -> Added {
        let now = Instant::now();
        let key = Hashed::new(key, &self.hasher);
        self.change(|waiting| match options.after.is_zero() {
            true => waiting.add(key, options.priority, now),
            false => waiting.add_at(key, options.priority, later(now, options.after), now),
        })
    }

    /// Counts a failure of the key and wants it handed out after the backoff for it.
    ///
    /// A key that is under way keeps the priority with which it was handed out.
    pub fn add_rate_limited(&self, key: ObjectKey) -> Added {
        self.add_rate_limited_after(key, Duration::ZERO)
    }

    /// The same, but not before `least` is over, however few failures there were.
    pub fn add_rate_limited_after(&self, key: ObjectKey, least: Duration) -> Added {
        let now = Instant::now();
        let key = Hashed::new(key, &self.hasher);
        self.change(|waiting| {
            let delay = waiting.fail(key.clone(), now).max(least);
            match delay.is_zero() {
                true => waiting.add(key, None, now),
                false => waiting.add_at(key, None, later(now, delay), now),
            }
        })
    }

    /// Forgets the failures of the key.
    pub fn forget(&self, key: &ObjectKey) {
        let key = Hashed::new(key, &self.hasher);
        self.state.lock().waiting.forget(&key);
    }

    /// How often the key has failed since it was last forgotten.
    pub fn failures(&self, key: &ObjectKey) -> u32 {
        let key = Hashed::new(key, &self.hasher);
        self.state.lock().waiting.failures(&key)
    }

    /// How many keys wait for a worker, without those that are delayed.
    pub fn len(&self) -> usize {
        self.state.lock().waiting.ready()
    }

    /// Whether no key waits for a worker.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the queue has done and holds.
    pub fn metrics(&self) -> Metrics {
        let now = Instant::now();
        self.state.lock().waiting.metrics(now)
    }

    /// The next key, which is the caller's alone until [`Queue::done`]; none once the queue is
    /// shut down.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, no key is lost.
    pub async fn next(&self) -> Option<ObjectKey> {
        self.take_turn(None).await
    }

    /// Ends the caller's work on a key and waits for the next: [`Queue::forget`] if asked for,
    /// [`Queue::done`] and [`Queue::next`] in one, which costs less than the three.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// # use kubewright_core::ObjectKey;
    /// # use kubewright_runtime::queue::{Finished, Queue};
    /// # let queue = Queue::new();
    /// # queue.add(ObjectKey::namespaced("shop", "web"));
    /// let mut next = queue.next().await;
    /// while let Some(key) = next {
    ///     println!("working on {key}");
    /// #   queue.shut_down();
    ///     next = queue.next_after(&key, Finished::Forget).await;
    /// }
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropped before it was polled, the key is not done. Dropped while it waits, the key is done
    /// and no other is lost.
    pub async fn next_after(&self, key: &ObjectKey, finished: Finished) -> Option<ObjectKey> {
        self.take_turn(Some(Done { key, finished })).await
    }

    /// Ends the caller's work on a key; if it was added meanwhile, it is ready again.
    pub fn done(&self, key: &ObjectKey) {
        let now = Instant::now();
        let finished = Finished::Keep;
        let done = Done { key, finished };
        let woken = self.state.lock().done(done, &self.hasher, now);
        woken.wake();
    }

    /// Hands out nothing more and takes nothing more in. Keys that wait are dropped: who starts
    /// again lists everything again. Keys under way stay so until they are done.
    pub fn shut_down(&self) {
        self.end(Waiting::shut_down);
    }

    /// Takes nothing more in, hands out the keys that are ready, gives up those that are delayed,
    /// and returns when the last key is done.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the queue drains all the same.
    pub async fn drain(&self) {
        self.end(Waiting::drain);
        poll_fn(|cx| self.state.lock().over(cx.waker())).await;
    }

    async fn take_turn(&self, mut done: Option<Done<'_>>) -> Option<ObjectKey> {
        let mut turn = Waiter::new(&self.state);
        let mut timer = None;
        poll_fn(|cx| {
            loop {
                let now = Instant::now();
                let next = match done.take() {
                    Some(done) => turn.next_after(done, &self.hasher, now, cx.waker()),
                    None => turn.next(now, cx.waker()),
                };
                let delay = match next {
                    Next::Key(key) => return Poll::Ready(Some(key)),
                    Next::Over => return Poll::Ready(None),
                    Next::Wait(delay) => delay,
                };
                match delay {
                    Some(time) if is_over(&mut timer, time, cx) => {}
                    _ => return Poll::Pending,
                }
            }
        })
        .await
    }

    fn end(&self, end: impl FnOnce(&mut Waiting)) {
        let mut state = self.state.lock();
        end(&mut state.waiting);
        let woken = state.call(Wake::All);
        drop(state);
        woken.wake();
    }

    fn change(&self, change: impl FnOnce(&mut Waiting) -> (Added, Wake)) -> Added {
        let mut state = self.state.lock();
        let (added, wake) = change(&mut state.waiting);
        let woken = state.call(wake);
        drop(state);
        woken.wake();
        added
    }
}

/// The end of a delay; one that time cannot express ends long after the process.
fn later(now: Instant, delay: Duration) -> Instant {
    const LONG: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
    now.checked_add(delay).unwrap_or_else(|| now + LONG)
}

/// Whether `time` has come; if not, the task is woken when it has.
fn is_over(timer: &mut Option<Pin<Box<Sleep>>>, time: Instant, cx: &mut Context<'_>) -> bool {
    let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(time)));
    if timer.deadline() != time {
        timer.as_mut().reset(time);
    }
    timer.as_mut().poll(cx).is_ready()
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

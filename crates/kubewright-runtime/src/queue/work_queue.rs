//! The work queue.

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
use super::finished::FinishedKey;
use super::lock::Mutex;
use super::schedule::{Next, Schedule, Wake};
use super::waiter::{QueueState, Waiter};
use super::{AddOptions, Added, Finished, Metrics, Priority, QueueOptions};

/// A queue of keys between sources and workers. Clones share the queue.
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
    state: Arc<Mutex<QueueState>>,
    hasher: DefaultHashBuilder,
}

impl Default for Queue {
    fn default() -> Self {
        Self::new()
    }
}

impl Queue {
    /// An empty queue with the default options.
    pub fn new() -> Self {
        Self::with(QueueOptions::default())
    }

    /// An empty queue.
    pub fn with(options: QueueOptions) -> Self {
        Self {
            state: Arc::new(Mutex::new(QueueState::new(Schedule::new(options)))),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// Adds a key, which is handed out as soon as a worker is free. Replaces a delay of the key.
    pub fn add(&self, key: ObjectKey) -> Added {
        self.add_with(
            key,
            AddOptions {
                priority: Some(Priority::NORMAL),
                after: Duration::ZERO,
            },
        )
    }

    /// Adds a key that is handed out after a delay, unless it is already queued for an earlier time.
    pub fn add_after(&self, key: ObjectKey, delay: Duration) -> Added {
        self.add_with(
            key,
            AddOptions {
                priority: None,
                after: delay,
            },
        )
    }

    /// Adds a key with a delay and a priority. Of two additions of the same key the higher priority
    /// and the earlier time apply.
    pub fn add_with(&self, key: ObjectKey, options: AddOptions) -> Added {
        let now = Instant::now();
        let key = Hashed::new(key, &self.hasher);
        self.change(|schedule| add(schedule, key, options, now))
    }

    /// Counts a failure of the key and adds the key with its backoff as the delay.
    ///
    /// A key that is being processed keeps the priority of its run.
    pub fn add_rate_limited(&self, key: ObjectKey) -> Added {
        self.add_rate_limited_after(key, Duration::ZERO)
    }

    /// Counts a failure of the key and adds the key with its backoff as the delay, but at least
    /// `min_delay`.
    pub fn add_rate_limited_after(&self, key: ObjectKey, min_delay: Duration) -> Added {
        let now = Instant::now();
        let key = Hashed::new(key, &self.hasher);
        self.change(|schedule| {
            let options = AddOptions {
                priority: None,
                after: schedule.fail(key.clone(), now).max(min_delay),
            };
            add(schedule, key, options, now)
        })
    }

    /// Resets the failure count of the key.
    pub fn forget(&self, key: &ObjectKey) {
        let key = Hashed::new(key, &self.hasher);
        self.state.lock().schedule.forget(&key);
    }

    /// The failure count of the key.
    pub fn failures(&self, key: &ObjectKey) -> u32 {
        let key = Hashed::new(key, &self.hasher);
        self.state.lock().schedule.failures(&key)
    }

    /// The number of keys that wait for a worker, without delayed ones.
    pub fn len(&self) -> usize {
        self.state.lock().schedule.ready()
    }

    /// Whether no key waits for a worker.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The metrics of the queue.
    pub fn metrics(&self) -> Metrics {
        let now = Instant::now();
        self.state.lock().schedule.metrics(now)
    }

    /// Waits for the next key. The key is not handed out again until [`Queue::done`]. Returns `None`
    /// when the queue is shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no key is lost.
    pub async fn next(&self) -> Option<ObjectKey> {
        self.wait(None).await
    }

    /// Ends the run of a key and waits for the next one: [`Queue::forget`] if `finished` requires it,
    /// [`Queue::done`] and [`Queue::next`] in one call, which is faster than the three.
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
    /// When dropped before the first poll, the key is not done. When dropped later, the key is done
    /// and no other key is lost.
    pub async fn next_after(&self, key: &ObjectKey, finished: Finished) -> Option<ObjectKey> {
        self.wait(Some(FinishedKey { key, finished })).await
    }

    /// Ends the run of a key. If it was added during the run, it is ready again.
    pub fn done(&self, key: &ObjectKey) {
        let now = Instant::now();
        let finished = FinishedKey {
            key,
            finished: Finished::Keep,
        };
        let wakers = self.state.lock().done(finished, &self.hasher, now);
        wakers.wake();
    }

    /// Stops handing out and accepting keys. Waiting keys are dropped: after a restart everything is
    /// listed again. Current runs are not affected.
    pub fn shut_down(&self) {
        self.end(Schedule::shut_down);
    }

    /// Stops accepting keys, hands out those that are ready, discards delayed ones, and returns when
    /// the last key is done.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the queue continues to drain.
    pub async fn drain(&self) {
        self.end(Schedule::drain);
        poll_fn(|cx| self.state.lock().poll_drained(cx.waker())).await;
    }

    async fn wait(&self, mut finished: Option<FinishedKey<'_>>) -> Option<ObjectKey> {
        let mut waiter = Waiter::new(&self.state);
        let mut timer = None;
        poll_fn(|cx| {
            loop {
                let now = Instant::now();
                let next = match finished.take() {
                    Some(key) => waiter.next_after(key, &self.hasher, now, cx.waker()),
                    None => waiter.next(now, cx.waker()),
                };
                let delay = match next {
                    Next::Key(key) => return Poll::Ready(Some(key)),
                    Next::End => return Poll::Ready(None),
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

    fn end(&self, end: impl FnOnce(&mut Schedule)) {
        let mut state = self.state.lock();
        end(&mut state.schedule);
        let wakers = state.take_wakers(Wake::All);
        drop(state);
        wakers.wake();
    }

    fn change(&self, change: impl FnOnce(&mut Schedule) -> (Added, Wake)) -> Added {
        let mut state = self.state.lock();
        let (added, wake) = change(&mut state.schedule);
        let wakers = state.take_wakers(wake);
        drop(state);
        wakers.wake();
        added
    }
}

fn add(
    schedule: &mut Schedule,
    key: Hashed<ObjectKey>,
    options: AddOptions,
    now: Instant,
) -> (Added, Wake) {
    if options.after.is_zero() {
        schedule.add(key, options.priority, now)
    } else {
        let time = later(now, options.after);
        schedule.add_at(key, options.priority, time, now)
    }
}

/// The end of a delay. A delay beyond the range of `Instant` ends in 30 years.
fn later(now: Instant, delay: Duration) -> Instant {
    const LONG: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
    now.checked_add(delay).unwrap_or_else(|| now + LONG)
}

/// Whether it is past `time`; if not, the task is woken then.
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

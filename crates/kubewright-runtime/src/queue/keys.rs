use std::sync::Arc;
use std::time::Duration;

use kubewright_core::ObjectKey;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::Backoff;
use super::waiting::Waiting;

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
#[derive(Clone, Debug)]
pub struct Queue {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    waiting: Mutex<Waiting>,
    backoff: Backoff,
    /// A key may have become ready, or a delay ends earlier than was known.
    changed: Notify,
}

impl Default for Queue {
    fn default() -> Self {
        Self::new()
    }
}

impl Queue {
    /// An empty queue with the default backoff.
    pub fn new() -> Self {
        Self::with_backoff(Backoff::default())
    }

    /// An empty queue.
    pub fn with_backoff(backoff: Backoff) -> Self {
        Self {
            shared: Arc::new(Shared {
                waiting: Mutex::new(Waiting::default()),
                backoff,
                changed: Notify::new(),
            }),
        }
    }

    /// Wants the key handed out as soon as a worker is free; a delay that it had is over.
    pub fn add(&self, key: ObjectKey) {
        if self.shared.waiting.lock().add(key, Instant::now()) {
            self.shared.changed.notify_one();
        }
    }

    /// Wants the key handed out after a delay, unless it is wanted earlier already.
    pub fn add_after(&self, key: ObjectKey, delay: Duration) {
        if delay.is_zero() {
            return self.add(key);
        }
        // A delay that time cannot express is as good as none that ever ends.
        let Some(time) = Instant::now().checked_add(delay) else {
            return;
        };
        if self.shared.waiting.lock().add_at(key, time) {
            // Every waiter keeps the timer of the next delay: any of them may be dropped.
            self.shared.changed.notify_waiters();
        }
    }

    /// Counts a failure of the key and wants it handed out after the backoff for it.
    pub fn add_rate_limited(&self, key: ObjectKey) {
        let failures = self.shared.waiting.lock().fail(&key);
        self.add_after(key, self.shared.backoff.delay(failures));
    }

    /// Forgets the failures of the key.
    pub fn forget(&self, key: &ObjectKey) {
        self.shared.waiting.lock().forget(key);
    }

    /// How often the key has failed since it was last forgotten.
    pub fn failures(&self, key: &ObjectKey) -> u32 {
        self.shared.waiting.lock().failures(key)
    }

    /// How many keys wait for a worker, without those that are delayed.
    pub fn len(&self) -> usize {
        self.shared.waiting.lock().ready()
    }

    /// Whether no key waits for a worker.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The next key, which is the caller's alone until [`Queue::done`]; none once the queue is
    /// shut down.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, no key is lost.
    pub async fn next(&self) -> Option<ObjectKey> {
        loop {
            let changed = self.shared.changed.notified();
            let next_delay = {
                let mut waiting = self.shared.waiting.lock();
                if waiting.is_shut_down() {
                    return None;
                }
                if let Some(key) = waiting.take(Instant::now()) {
                    return Some(key);
                }
                waiting.next_delay()
            };
            match next_delay {
                None => changed.await,
                Some(time) => {
                    tokio::select! {
                        () = changed => {}
                        () = sleep_until(time) => {}
                    }
                }
            }
        }
    }

    /// Ends the caller's work on a key; if it was added meanwhile, it is ready again.
    pub fn done(&self, key: &ObjectKey) {
        let mut waiting = self.shared.waiting.lock();
        if waiting.done(key, Instant::now()) {
            self.shared.changed.notify_one();
        }
    }

    /// Hands out nothing more and takes nothing more in. Keys that wait are dropped: who starts
    /// again lists everything again. Keys under way stay so until they are done.
    pub fn shut_down(&self) {
        self.shared.waiting.lock().shut_down();
        self.shared.changed.notify_waiters();
    }
}

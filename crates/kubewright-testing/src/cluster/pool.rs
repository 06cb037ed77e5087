use std::sync::{Arc, LazyLock};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::sweep::Baseline;
use crate::control_plane::{ControlPlane, Release};
use crate::progress::say;
use crate::real::{RealCluster, RealOptions};
use crate::{Error, Settings};

/// How many pooled control planes a process runs at once.
const CAPACITY: usize = 2;
const SAY_AGAIN: Duration = Duration::from_secs(5);
/// A process needs moments from its last answer to its end; this is how often and how far apart
/// they are waited for.
const ENDING_LOOKS: usize = 40;
const ENDING_PAUSE: Duration = Duration::from_millis(50);
/// How long nobody gives a control plane back before those who wait give up.
const STUCK_AFTER: Duration = Duration::from_secs(300);

static POOL: LazyLock<Pool> = LazyLock::new(Pool::default);

/// Control planes that outlive the test they were started for, so that the next need not wait.
///
/// Statics are never dropped: what is idle when the process ends is ended by its guard.
#[derive(Debug, Default)]
struct Pool {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// How many are started, starting or in use.
    taken: usize,
    /// How often one was given back or ended, so that those who wait see that it goes on.
    turns: u64,
    idle: Vec<Arc<Member>>,
}

/// A control plane, and what was in it when it was new.
#[derive(Debug)]
struct Member {
    cluster: RealCluster,
    baseline: Baseline,
}

/// The sole use of a control plane.
///
/// Dropped without being given back it takes the control plane with it, as nobody knows what a
/// test that broke off left there.
#[derive(Debug)]
pub(super) struct Lease {
    member: Option<Arc<Member>>,
    slot: Option<Slot>,
    returned: Mutex<bool>,
}

/// A place in the pool; freed when dropped.
#[derive(Debug)]
struct Slot;

impl Drop for Slot {
    fn drop(&mut self) {
        let mut state = POOL.state.lock();
        state.taken -= 1;
        state.turns += 1;
        drop(state);
        POOL.changed.notify_one();
    }
}

enum Found {
    Idle(Arc<Member>),
    /// A free place.
    Room,
    /// The place of an idle control plane with other options, which ends.
    RoomOf(Arc<Member>),
}

impl Lease {
    /// A control plane of the pool, waiting until there is one for this test alone.
    ///
    /// # Cancel safety
    ///
    /// When dropped, nothing is taken from the pool.
    pub(super) async fn pooled(options: &RealOptions, settings: &Settings) -> Result<Self, Error> {
        let mut wait = Wait::new();
        loop {
            // Made before looking, so that no change between the look and the wait is missed.
            let changed = POOL.changed.notified();
            let dead = POOL.state.lock().take_dead();
            drop(dead);
            let found = POOL.state.lock().find(options);
            let slot = match found {
                Some(Found::Idle(member)) => return Ok(Self::new(member, Some(Slot))),
                Some(Found::Room) => Slot,
                Some(Found::RoomOf(other)) => {
                    drop(other);
                    Slot
                }
                None => {
                    // A look every few seconds also finds what two changes at once announced
                    // to only one of those who wait.
                    if timeout(SAY_AGAIN, changed).await.is_err() {
                        wait.go_on(POOL.state.lock().turns)?;
                    }
                    continue;
                }
            };
            let member = Member::start(options, settings).await?;
            return Ok(Self::new(Arc::new(member), Some(slot)));
        }
    }

    /// A control plane of one's own, outside the pool.
    pub(super) async fn own(options: &RealOptions, settings: &Settings) -> Result<Self, Error> {
        let member = Member::start(options, settings).await?;
        Ok(Self::new(Arc::new(member), None))
    }

    pub(super) fn cluster(&self) -> &RealCluster {
        let member = self.member.as_ref();
        &member
            .expect("a lease holds its member until it is dropped")
            .cluster
    }

    /// Removes what the test made and lets the next one have the control plane.
    pub(super) async fn give_back(&self) -> Result<(), Error> {
        let Some(member) = self.member.as_ref().filter(|_| self.slot.is_some()) else {
            return Ok(());
        };
        let client = member.cluster.client().await?;
        let restored = member.baseline.restore(&client).await;
        if restored.is_err() {
            // A process that ended is why; one that has just closed its sockets is still ending.
            for _ in 0..ENDING_LOOKS {
                member.cluster.alive()?;
                sleep(ENDING_PAUSE).await;
            }
        }
        member.cluster.alive().and(restored)?;
        *self.returned.lock() = true;
        Ok(())
    }

    fn new(member: Arc<Member>, slot: Option<Slot>) -> Self {
        Self {
            member: Some(member),
            slot,
            returned: Mutex::new(false),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let member = self.member.take();
        if !*self.returned.lock() {
            // The processes end before their place is free.
            drop(member);
            return;
        }
        if let Some(slot) = self.slot.take() {
            // The place stays taken: it goes over from the lease to the idle member.
            std::mem::forget(slot);
            let mut state = POOL.state.lock();
            state.idle.extend(member);
            state.turns += 1;
            drop(state);
            POOL.changed.notify_one();
        }
    }
}

/// Somebody waits for a control plane.
struct Wait {
    start: Instant,
    /// When something last changed, and the count of changes then.
    progress: (Instant, u64),
}

impl Wait {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            start: now,
            progress: (now, 0),
        }
    }

    /// Says that it goes on, unless nothing has changed for too long.
    fn go_on(&mut self, turns: u64) -> Result<(), Error> {
        if turns != self.progress.1 {
            self.progress = (Instant::now(), turns);
        }
        let waited = self.progress.0.elapsed();
        if waited >= STUCK_AFTER {
            return Err(Error::PoolBusy {
                count: CAPACITY,
                waited,
            });
        }
        say(format_args!(
            "all {CAPACITY} control planes of the pool are in use; waiting since {} s",
            self.start.elapsed().as_secs()
        ));
        Ok(())
    }
}

impl State {
    /// Idle control planes of which a process ended: they free their places.
    fn take_dead(&mut self) -> Vec<Arc<Member>> {
        let dead = |member: &mut Arc<Member>| match member.cluster.alive() {
            Ok(()) => false,
            Err(error) => {
                say(format_args!(
                    "a control plane of the pool is dropped: {error}"
                ));
                true
            }
        };
        let dead: Vec<_> = self.idle.extract_if(.., dead).collect();
        self.taken -= dead.len();
        dead
    }

    fn find(&mut self, options: &RealOptions) -> Option<Found> {
        let same = |member: &Arc<Member>| member.cluster.options() == options;
        if let Some(position) = self.idle.iter().position(same) {
            return Some(Found::Idle(self.idle.swap_remove(position)));
        }
        if self.taken < CAPACITY {
            self.taken += 1;
            return Some(Found::Room);
        }
        self.idle.pop().map(Found::RoomOf)
    }
}

impl Member {
    async fn start(options: &RealOptions, settings: &Settings) -> Result<Self, Error> {
        let control_plane = ControlPlane::locate(Release::current(), settings).await?;
        let cluster = RealCluster::start(&control_plane, options).await?;
        let client = cluster.client().await?;
        let baseline = Baseline::take(&client).await?;
        Ok(Self { cluster, baseline })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::Wait;

    #[tokio::test(start_paused = true)]
    async fn who_waits_gives_up_only_when_nothing_changes_for_minutes() {
        let mut wait = Wait::new();
        for turns in 1..5 {
            advance(Duration::from_secs(299)).await;
            wait.go_on(turns).unwrap();
        }
        advance(Duration::from_secs(300)).await;
        let error = wait.go_on(4).unwrap_err().to_string();
        assert!(error.contains("in use for 300s"), "{error}");
        assert!(error.contains(".own()"), "{error}");
    }
}

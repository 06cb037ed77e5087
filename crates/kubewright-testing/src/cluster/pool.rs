//! A pool of real control planes, which tests use one after the other.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::sweep::Baseline;
use crate::control_plane::{ControlPlane, Release};
use crate::progress::report;
use crate::real::{RealCluster, RealOptions};
use crate::{Error, Settings};

/// How many pooled control planes a process runs at once.
const CAPACITY: usize = 2;
const REPORT_INTERVAL: Duration = Duration::from_secs(5);
/// How often it is checked whether a process that closed its sockets has ended.
const EXIT_CHECKS: usize = 40;
const EXIT_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// How long a test waits for a control plane while none is returned.
const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

static POOL: LazyLock<Pool> = LazyLock::new(Pool::default);

/// Control planes that outlive the test they were started for, so that later tests start faster.
///
/// Statics are never dropped: the guards of idle control planes end them after this process.
#[derive(Debug, Default)]
struct Pool {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// How many control planes are idle, starting or in use.
    occupied: usize,
    /// How often a control plane was returned or ended, which shows waiting tests the progress.
    releases: u64,
    idle: Vec<Arc<Member>>,
}

/// A control plane, and its objects when it was new.
#[derive(Debug)]
struct Member {
    cluster: RealCluster,
    baseline: Baseline,
}

/// The exclusive use of a control plane.
///
/// If it is dropped without being returned, the control plane ends, because it may contain objects
/// of an interrupted test.
#[derive(Debug)]
pub(super) struct Lease {
    member: Option<Arc<Member>>,
    slot: Option<Slot>,
    returned: Mutex<bool>,
}

/// A slot of the pool, which is freed when dropped.
#[derive(Debug)]
struct Slot;

impl Drop for Slot {
    fn drop(&mut self) {
        let mut state = POOL.state.lock();
        state.occupied -= 1;
        state.releases += 1;
        drop(state);
        POOL.changed.notify_one();
    }
}

/// A place for a test in the pool.
enum Available {
    Idle(Arc<Member>),
    FreeSlot,
    /// The slot of an idle control plane with other options, which ends.
    SlotOf(Arc<Member>),
}

impl Lease {
    /// Waits for a control plane of the pool.
    ///
    /// # Cancel safety
    ///
    /// When dropped, nothing is taken from the pool.
    pub(super) async fn pooled(options: &RealOptions, settings: &Settings) -> Result<Self, Error> {
        let mut wait = Wait::new();
        loop {
            // Created before the state is read, so that a change in between is not missed.
            let changed = POOL.changed.notified();
            let dead = POOL.state.lock().take_dead();
            drop(dead);
            let taken = POOL.state.lock().take(options);
            let slot = match taken {
                Some(Available::Idle(member)) => return Ok(Self::new(member, Some(Slot))),
                Some(Available::FreeSlot) => Slot,
                Some(Available::SlotOf(other)) => {
                    drop(other);
                    Slot
                }
                None => {
                    // Two changes at once may notify only one waiting test: the others find the
                    // second change after the timeout.
                    if timeout(REPORT_INTERVAL, changed).await.is_err() {
                        wait.check_progress(POOL.state.lock().releases)?;
                    }
                    continue;
                }
            };
            let member = Member::start(options, settings).await?;
            return Ok(Self::new(Arc::new(member), Some(slot)));
        }
    }

    /// Starts a control plane outside of the pool.
    pub(super) async fn dedicated(
        options: &RealOptions,
        settings: &Settings,
    ) -> Result<Self, Error> {
        let member = Member::start(options, settings).await?;
        Ok(Self::new(Arc::new(member), None))
    }

    pub(super) fn cluster(&self) -> &RealCluster {
        let member = self.member.as_ref();
        &member
            .expect("a lease holds its member until it is dropped")
            .cluster
    }

    /// Deletes the objects of the test and returns the control plane to the pool.
    pub(super) async fn give_back(&self) -> Result<(), Error> {
        let Some(member) = self.member.as_ref().filter(|_| self.slot.is_some()) else {
            return Ok(());
        };
        let client = member.cluster.client().await?;
        let restored = member.baseline.restore(&client).await;
        if restored.is_err() {
            // If a process has ended, that is the cause. It may still be exiting after it closed
            // its sockets.
            for _ in 0..EXIT_CHECKS {
                member.cluster.alive()?;
                sleep(EXIT_CHECK_INTERVAL).await;
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
            // The processes end before their slot is free.
            drop(member);
            return;
        }
        if let Some(slot) = self.slot.take() {
            // The slot stays occupied: it now belongs to the idle member.
            std::mem::forget(slot);
            let mut state = POOL.state.lock();
            state.idle.extend(member);
            state.releases += 1;
            drop(state);
            POOL.changed.notify_one();
        }
    }
}

/// The wait of a test for a control plane.
struct Wait {
    start: Instant,
    /// The time of the last progress.
    last_progress: Instant,
    /// The number of releases at the last progress.
    releases: u64,
}

impl Wait {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            start: now,
            last_progress: now,
            releases: 0,
        }
    }

    /// Reports that the test still waits. Fails if there was no progress for too long.
    fn check_progress(&mut self, releases: u64) -> Result<(), Error> {
        if releases != self.releases {
            self.releases = releases;
            self.last_progress = Instant::now();
        }
        let elapsed = self.last_progress.elapsed();
        if elapsed >= IDLE_TIMEOUT {
            return Err(Error::PoolBusy {
                count: CAPACITY,
                elapsed,
            });
        }
        report(format_args!(
            "all {CAPACITY} control planes of the pool are in use; waiting for {} s",
            self.start.elapsed().as_secs()
        ));
        Ok(())
    }
}

impl State {
    /// Takes the idle control planes of which a process has ended, and frees their slots.
    fn take_dead(&mut self) -> Vec<Arc<Member>> {
        let is_dead = |member: &mut Arc<Member>| match member.cluster.alive() {
            Ok(()) => false,
            Err(error) => {
                report(format_args!(
                    "a control plane of the pool is dropped: {error}"
                ));
                true
            }
        };
        let dead: Vec<_> = self.idle.extract_if(.., is_dead).collect();
        self.occupied -= dead.len();
        dead
    }

    fn take(&mut self, options: &RealOptions) -> Option<Available> {
        let has_options = |member: &Arc<Member>| member.cluster.options() == options;
        if let Some(position) = self.idle.iter().position(has_options) {
            return Some(Available::Idle(self.idle.swap_remove(position)));
        }
        if self.occupied < CAPACITY {
            self.occupied += 1;
            return Some(Available::FreeSlot);
        }
        self.idle.pop().map(Available::SlotOf)
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
    async fn wait_times_out_only_without_progress() {
        let mut wait = Wait::new();
        for releases in 1..5 {
            advance(Duration::from_secs(299)).await;
            wait.check_progress(releases).unwrap();
        }
        advance(Duration::from_secs(300)).await;
        let error = wait.check_progress(4).unwrap_err().to_string();
        assert!(error.contains("in use for 300s"), "{error}");
        assert!(error.contains(".dedicated()"), "{error}");
    }
}

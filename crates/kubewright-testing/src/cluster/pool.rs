use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::sweep::Baseline;
use crate::control_plane::{ControlPlane, Release};
use crate::real::{RealCluster, RealOptions};
use crate::{Error, Settings};

/// How many pooled control planes a process runs at once.
const CAPACITY: usize = 2;

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
        POOL.state.lock().taken -= 1;
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
        loop {
            // Made before looking, so that no change between the look and the wait is missed.
            let changed = POOL.changed.notified();
            let found = POOL.state.lock().find(options);
            let slot = match found {
                Some(Found::Idle(member)) => return Ok(Self::new(member, Some(Slot))),
                Some(Found::Room) => Slot,
                Some(Found::RoomOf(other)) => {
                    drop(other);
                    Slot
                }
                None => {
                    changed.await;
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
        member.baseline.restore(&client).await?;
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
            POOL.state.lock().idle.extend(member);
            POOL.changed.notify_one();
        }
    }
}

impl State {
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

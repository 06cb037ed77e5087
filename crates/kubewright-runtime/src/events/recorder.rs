use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use kube::Client;
use kubewright_core::Clock;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::{Event, EventSink, Regarding};

/// How many events may wait to be written, as client-go has it.
const ROOM: usize = 1000;

/// Who tells of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reporter {
    /// The controller's name, such as `mydaemonset` or `example.com/mydaemonset`.
    pub controller: String,
    /// Which copy of it.
    pub instance: String,
}

/// Takes events to be written later; clones are handles to the same queue.
#[derive(Clone, Debug)]
pub struct EventRecorder {
    queue: mpsc::Sender<Recorded>,
    clock: Clock,
    lost: Arc<AtomicU64>,
}

/// An event, and when it happened to whom.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) regarding: Regarding,
    pub(super) event: Event,
    pub(super) time: Timestamp,
}

impl EventRecorder {
    /// A recorder and the sink that writes what it takes; run the sink, or nothing is written.
    pub fn new(client: Client, clock: Clock, reporter: Reporter) -> (Self, EventSink) {
        let (queue, waiting) = mpsc::channel(ROOM);
        let recorder = Self {
            queue,
            clock: clock.clone(),
            lost: Arc::default(),
        };
        (recorder, EventSink::new(client, clock, reporter, waiting))
    }

    /// Takes an event about an object. It comes back at once; where there is no room, the event
    /// is lost and counted.
    pub fn record(&self, regarding: Regarding, event: Event) {
        let recorded = Recorded {
            regarding,
            event,
            time: self.clock.now(),
        };
        let Err(error) = self.queue.try_send(recorded) else {
            return;
        };
        let before = self.lost.fetch_add(1, Ordering::Relaxed);
        if before == 0 && matches!(error, TrySendError::Full(_)) {
            tracing::warn!("an event was lost: they come faster than they can be written");
        }
    }

    /// How many events were lost.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

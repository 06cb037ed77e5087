//! Takes events and queues them for the sink.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kube::Client;
use kubewright_core::Clock;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::recorded::Recorded;
use super::{Event, EventSink, Regarding, Reporter};

/// The maximum number of queued events, as in client-go.
const CAPACITY: usize = 1000;

/// Queues events, which an [`EventSink`] writes. Clones share the queue.
#[derive(Clone, Debug)]
pub struct EventRecorder {
    queue: mpsc::Sender<Recorded>,
    clock: Clock,
    lost: Arc<AtomicU64>,
}

impl EventRecorder {
    /// A recorder, and the sink that writes its events once it runs.
    pub fn new(client: Client, clock: Clock, reporter: Reporter) -> (Self, EventSink) {
        let (queue, receiver) = mpsc::channel(CAPACITY);
        let recorder = Self {
            queue,
            clock: clock.clone(),
            lost: Arc::default(),
        };
        (recorder, EventSink::new(client, clock, reporter, receiver))
    }

    /// Queues an event about an object and returns at once. When the queue is full, the event is
    /// lost and counted.
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
            tracing::warn!("an event was lost: events come faster than they can be written");
        }
    }

    /// The number of lost events.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

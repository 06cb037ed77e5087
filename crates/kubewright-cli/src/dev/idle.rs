//! Detects when the operator is idle, and objects whose reconciles never stop writing.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::reconciled::Reconciled;

/// An operator is idle when no reconcile has written for this time.
const IDLE: Duration = Duration::from_millis(500);
/// An object whose reconciles write without a pause for this time is reported.
const BUSY: Duration = Duration::from_secs(10);

/// Detects when the operator is idle.
#[derive(Debug, Default)]
pub(super) struct IdleDetector {
    /// The last reconcile that wrote.
    last: Option<Instant>,
    /// Objects whose last write is recent, by controller and object.
    busy: BTreeMap<String, Busy>,
    is_reported: bool,
}

#[derive(Clone, Copy, Debug)]
struct Busy {
    since: Instant,
    last: Instant,
    runs: u32,
}

impl IdleDetector {
    /// Adds a reconcile that ended now. Returns a warning, once, when the reconciles of an object write
    /// without a pause.
    pub(super) fn add(&mut self, reconciled: &Reconciled) -> Option<String> {
        if reconciled.writes == 0 {
            return None;
        }
        let now = Instant::now();
        self.last = Some(now);
        self.busy.retain(|_, busy| now - busy.last < IDLE);
        let name = format!("{} {}", reconciled.controller, reconciled.object);
        let busy = self.busy.entry(name).or_insert(Busy {
            since: now,
            last: now,
            runs: 0,
        });
        busy.last = now;
        busy.runs += 1;
        if self.is_reported || now - busy.since < BUSY {
            return None;
        }
        self.is_reported = true;
        self.busiest()
    }

    /// Turns the warning off, because another one was shown for the object.
    pub(super) fn mark_reported(&mut self) {
        self.is_reported = true;
    }

    /// Returns when the operator will be idle, if no reconcile writes before.
    pub(super) fn idle_at(&self, since: Instant) -> Instant {
        self.last.map_or(since, |last| last.max(since)) + IDLE
    }

    /// Returns a description of the object that was written longest without a pause.
    pub(super) fn busiest(&self) -> Option<String> {
        let (name, busy) = self.busy.iter().min_by_key(|(_, busy)| busy.since)?;
        let seconds = (busy.last - busy.since).as_secs();
        Some(format!(
            "reconcile {name} never stops writing: {} runs within {seconds} s changed something; \
check that it does not write a value that differs each time",
            busy.runs
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, advance};

    use super::{IDLE, IdleDetector};
    use crate::dev::reconciled::Reconciled;

    fn reconciled(object: &str, writes: u32) -> Reconciled {
        Reconciled {
            controller: "sites".to_owned(),
            object: object.to_owned(),
            time: "1ms".to_owned(),
            writes,
            outcome: "done".to_owned(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn object_that_writes_without_a_pause_is_reported_once() {
        let mut detector = IdleDetector::default();
        let mut warnings = Vec::new();
        for _ in 0..150 {
            warnings.extend(detector.add(&reconciled("default/a", 1)));
            // Reconciles that write nothing are ignored.
            warnings.extend(detector.add(&reconciled("default/b", 0)));
            advance(Duration::from_millis(100)).await;
        }
        let [warning] = warnings.try_into().unwrap();
        assert!(
            warning
                .starts_with("reconcile sites default/a never stops writing: 101 runs within 10 s"),
            "{warning}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn operator_is_idle_between_pauses_and_while_it_writes_nothing() {
        let mut detector = IdleDetector::default();
        for _ in 0..100 {
            assert_eq!(detector.add(&reconciled("default/a", 1)), None);
            advance(IDLE).await;
        }
        for _ in 0..1000 {
            assert_eq!(detector.add(&reconciled("default/a", 0)), None);
            advance(Duration::from_millis(100)).await;
        }
        assert!(detector.idle_at(Instant::now() - IDLE) <= Instant::now());
    }
}

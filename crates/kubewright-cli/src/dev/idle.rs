//! Whether the operator has come to rest.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::reconciled::Reconciled;

/// An operator is at rest when no reconcile has changed something for so long.
const REST: Duration = Duration::from_millis(500);
/// An object whose reconciles have no rest for so long is reported.
const RESTLESS: Duration = Duration::from_secs(10);

/// When reconciles have last changed something.
#[derive(Debug, Default)]
pub(super) struct Rest {
    last: Option<Instant>,
    /// By controller and object, those that may still be at it.
    busy: BTreeMap<String, Busy>,
    is_reported: bool,
}

#[derive(Clone, Copy, Debug)]
struct Busy {
    since: Instant,
    last: Instant,
    runs: u32,
}

impl Rest {
    /// Notes a reconcile that has ended now. Returns what to warn of: an object whose reconciles
    /// write without a pause. It is reported once.
    pub(super) fn note(&mut self, reconciled: &Reconciled) -> Option<String> {
        if reconciled.writes == 0 {
            return None;
        }
        let now = Instant::now();
        self.last = Some(now);
        self.busy.retain(|_, busy| now - busy.last < REST);
        let name = format!("{} {}", reconciled.controller, reconciled.object);
        let busy = self.busy.entry(name).or_insert(Busy {
            since: now,
            last: now,
            runs: 0,
        });
        busy.last = now;
        busy.runs += 1;
        if self.is_reported || now - busy.since < RESTLESS {
            return None;
        }
        self.is_reported = true;
        self.restless()
    }

    /// Another part reports the object.
    pub(super) fn reported(&mut self) {
        self.is_reported = true;
    }

    /// When the operator is at rest, if nothing happens before.
    pub(super) fn due(&self, since: Instant) -> Instant {
        self.last.map_or(since, |last| last.max(since)) + REST
    }

    /// What has written longest without a pause.
    pub(super) fn restless(&self) -> Option<String> {
        let (name, busy) = self.busy.iter().min_by_key(|(_, busy)| busy.since)?;
        let seconds = (busy.last - busy.since).as_secs();
        Some(format!(
            "reconcile {name} does not come to rest: {} runs within {seconds} s have changed \
             something; does it write a value that differs each time?",
            busy.runs
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, advance};

    use super::{REST, Rest};
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
        let mut rest = Rest::default();
        let mut warnings = Vec::new();
        for _ in 0..150 {
            warnings.extend(rest.note(&reconciled("default/a", 1)));
            // Others come and go.
            warnings.extend(rest.note(&reconciled("default/b", 0)));
            advance(Duration::from_millis(100)).await;
        }
        let [warning] = warnings.try_into().unwrap();
        assert!(
            warning.starts_with(
                "reconcile sites default/a does not come to rest: 101 runs within 10 s"
            ),
            "{warning}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_and_runs_that_change_nothing_are_rest() {
        let mut rest = Rest::default();
        for _ in 0..100 {
            assert_eq!(rest.note(&reconciled("default/a", 1)), None);
            advance(REST).await;
        }
        for _ in 0..1000 {
            assert_eq!(rest.note(&reconciled("default/a", 0)), None);
            advance(Duration::from_millis(100)).await;
        }
        assert!(rest.due(Instant::now() - REST) <= Instant::now());
    }
}

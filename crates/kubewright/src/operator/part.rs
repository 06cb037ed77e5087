use std::sync::Arc;

use tokio::sync::watch;

/// A part of a running operator, as others see it. Cloning shares it.
#[derive(Clone, Debug)]
pub(super) struct Part {
    name: Arc<str>,
    phase: watch::Sender<Phase>,
}

/// Where a part stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Starting,
    Working,
    /// It is tried again.
    Failing(String),
    /// There is nothing more to do.
    Ended,
}

impl Part {
    pub(super) fn new(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            phase: watch::Sender::new(Phase::Starting),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// Returns when it is known whether it works.
    pub(super) async fn started(&self) {
        let mut phase = self.phase.subscribe();
        let started = phase.wait_for(|phase| *phase != Phase::Starting).await;
        drop(started.map(|_| ()));
    }

    /// Why the operator is not ready, as far as this part is concerned.
    pub(super) fn problem(&self) -> Option<String> {
        match &*self.phase.borrow() {
            Phase::Starting => Some("starting".to_owned()),
            Phase::Failing(why) => Some(why.clone()),
            Phase::Working | Phase::Ended => None,
        }
    }
}

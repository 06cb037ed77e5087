//! The state of a component of a running operator, for readiness.

use std::sync::Arc;

use tokio::sync::watch;

/// A component of a running operator, such as a controller or the webhooks. Clones share its state.
#[derive(Clone, Debug)]
pub(super) struct Component {
    name: Arc<str>,
    state: watch::Sender<ComponentState>,
}

/// The state of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ComponentState {
    Starting,
    Running,
    /// It failed for this reason and will be retried.
    Failing(String),
    Completed,
}

impl Component {
    pub(super) fn new(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            state: watch::Sender::new(ComponentState::Starting),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn set_state(&self, state: ComponentState) {
        self.state.send_replace(state);
    }

    /// Waits until the component has left the state `Starting`.
    pub(super) async fn started(&self) {
        let mut state = self.state.subscribe();
        // Waiting fails only if all senders are dropped, and `self` is one.
        state
            .wait_for(|state| *state != ComponentState::Starting)
            .await
            .ok();
    }

    /// Returns the reason why the component is not ready.
    pub(super) fn problem(&self) -> Option<String> {
        match &*self.state.borrow() {
            ComponentState::Starting => Some("starting".to_owned()),
            ComponentState::Failing(why) => Some(why.clone()),
            ComponentState::Running | ComponentState::Completed => None,
        }
    }
}

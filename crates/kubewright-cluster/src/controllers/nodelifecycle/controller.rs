//! The loop of the node lifecycle controller: health first, then the taints that follow from it.

use super::health::NodeHealth;
use super::taints::NodeTaints;
use crate::framework::{Client, ControlLoop, ObjectChange, Step};

/// Monitors the heartbeats of nodes and keeps the taints that follow from their conditions.
#[derive(Debug, Default)]
pub(crate) struct NodeLifecycleController {
    health: NodeHealth,
    taints: NodeTaints,
}

impl ControlLoop for NodeLifecycleController {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        self.health.observe(change);
        self.taints.observe(change);
    }

    async fn step(&mut self, client: &Client) -> Step {
        match self.health.step(client).await {
            Step::Worked => Step::Worked,
            idle => self.taints.step(client).await.or(idle),
        }
    }
}

//! What the kubelet knows beside the Pod.

use serde_json::{Value, json};

use super::pod_conditions::Readiness;
use super::settings::PodBehavior;
use crate::framework::{generation, text};

/// The surroundings of a Pod whose status is computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct PodContext<'a> {
    pub(super) now: &'a str,
    pub(super) host_address: &'a str,
    pub(super) pod_address: &'a str,
    pub(super) behavior: &'a PodBehavior,
    /// Whether the backoff after the last exit of the containers is over.
    pub(super) may_exit: bool,
}

impl PodContext<'_> {
    /// Whether running containers are ready.
    pub(super) fn is_ready(&self) -> bool {
        !matches!(self.behavior, PodBehavior::NeverReady)
    }

    /// The readiness of a Pod whose containers run.
    pub(super) fn readiness(&self, pod: &Value) -> Readiness {
        if self.is_ready() {
            Readiness::Ready
        } else {
            Readiness::unready(pod)
        }
    }

    /// The fields of the status that every bound Pod has.
    pub(super) fn base_status(&self, pod: &Value) -> Value {
        let start = match text(pod, "/status/startTime") {
            "" => self.now,
            time => time,
        };
        json!({
            "hostIP": self.host_address,
            "hostIPs": [{"ip": self.host_address}],
            "observedGeneration": generation(pod),
            "startTime": start,
        })
    }
}

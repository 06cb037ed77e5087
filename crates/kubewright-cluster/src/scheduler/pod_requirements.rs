//! What the scheduler considers of a Pod without a node.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::labels::{Labels, labels};
use super::node_affinity::NodeSelector;
use super::node_facts::Taint;
use super::pod_term::PodTerm;
use super::resource_amounts::ResourceAmounts;
use super::topology_spread::SpreadConstraint;
use crate::framework::text;

/// The constraints of a Pod on its node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PodRequirements {
    pub(super) node_selector: BTreeMap<String, String>,
    affinity: Option<Affinity>,
    tolerations: Vec<Toleration>,
    #[serde(skip)]
    pub(super) requests: ResourceAmounts,
    #[serde(skip)]
    pub(super) namespace: String,
    #[serde(skip)]
    pub(super) labels: Labels,
    /// The terms of the required Pod affinity.
    #[serde(skip)]
    pub(super) pod_affinity: Vec<PodTerm>,
    /// The terms of the required Pod anti-affinity.
    #[serde(skip)]
    pub(super) pod_anti_affinity: Vec<PodTerm>,
    /// The required topology spread.
    #[serde(skip)]
    pub(super) spread_constraints: Vec<SpreadConstraint>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Affinity {
    node_affinity: Option<NodeAffinity>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeAffinity {
    required_during_scheduling_ignored_during_execution: Option<NodeSelector>,
}

/// An entry of `spec.tolerations`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Toleration {
    key: String,
    operator: String,
    value: String,
    effect: String,
    toleration_seconds: Option<i64>,
}

impl PodRequirements {
    /// The requirements of a Pod's spec; `None` when the spec is invalid.
    pub(crate) fn read(pod: &Value) -> Option<Self> {
        let mut requirements = Self::deserialize(pod.get("spec")?).ok()?;
        requirements.requests = ResourceAmounts::requested_by(pod);
        requirements.namespace = text(pod, "/metadata/namespace").to_owned();
        requirements.labels = labels(pod);
        requirements.pod_affinity = PodTerm::required_of(pod, "podAffinity");
        requirements.pod_anti_affinity = PodTerm::required_of(pod, "podAntiAffinity");
        requirements.spread_constraints = SpreadConstraint::required_of(pod);
        Some(requirements)
    }

    /// Whether the node depends on where other Pods are.
    pub(super) fn depends_on_other_pods(&self) -> bool {
        !(self.pod_affinity.is_empty()
            && self.pod_anti_affinity.is_empty()
            && self.spread_constraints.is_empty())
    }

    /// The tolerations that cover these taints; `None` when a taint is not covered.
    pub(crate) fn tolerations_of(&self, taints: &[&Taint]) -> Option<Vec<&Toleration>> {
        if !taints.iter().all(|taint| self.tolerates(taint)) {
            return None;
        }
        let covers_any =
            |toleration: &&Toleration| taints.iter().any(|taint| toleration.covers(taint));
        Some(self.tolerations.iter().filter(covers_any).collect())
    }

    pub(super) fn required_node_affinity(&self) -> Option<&NodeSelector> {
        let affinity = self.affinity.as_ref()?.node_affinity.as_ref()?;
        affinity
            .required_during_scheduling_ignored_during_execution
            .as_ref()
    }

    pub(super) fn tolerates(&self, taint: &Taint) -> bool {
        let mut tolerations = self.tolerations.iter();
        tolerations.any(|toleration| toleration.covers(taint))
    }
}

impl Toleration {
    /// For how long the taint is tolerated: `None` means forever, and a negative time means zero.
    pub(crate) fn seconds(&self) -> Option<u64> {
        let seconds = self.toleration_seconds?;
        Some(u64::try_from(seconds).unwrap_or_default())
    }

    /// Whether it covers a taint (`ToleratesTaint` of k8s.io/component-helpers).
    fn covers(&self, taint: &Taint) -> bool {
        let has_effect = self.effect.is_empty() || self.effect == taint.effect;
        let has_key = self.key.is_empty() || self.key == taint.key;
        let has_value = match self.operator.as_str() {
            "" | "Equal" => self.value == taint.value,
            "Exists" => true,
            _ => false,
        };
        has_effect && has_key && has_value
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{PodRequirements, Taint};

    #[test]
    fn toleration_covers_a_taint_by_key_value_and_effect() {
        let taint = Taint {
            key: "dedicated".to_owned(),
            value: "db".to_owned(),
            effect: "NoSchedule".to_owned(),
        };
        for (wanted, toleration) in [
            (true, json!({"operator": "Exists"})),
            (true, json!({"key": "dedicated", "operator": "Exists"})),
            (
                true,
                json!({"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}),
            ),
            (
                false,
                json!({"key": "dedicated", "operator": "Exists", "effect": "NoExecute"}),
            ),
            (false, json!({"key": "other", "operator": "Exists"})),
            (true, json!({"key": "dedicated", "value": "db"})),
            (
                true,
                json!({"key": "dedicated", "operator": "Equal", "value": "db"}),
            ),
            (false, json!({"key": "dedicated", "value": "web"})),
            (false, json!({"key": "dedicated"})),
        ] {
            let requirements =
                PodRequirements::read(&json!({"spec": {"tolerations": [toleration]}})).unwrap();
            assert_eq!(requirements.tolerates(&taint), wanted, "{toleration}");
        }
    }
}

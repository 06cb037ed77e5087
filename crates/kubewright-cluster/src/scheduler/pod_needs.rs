use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::affinity::NodeSelector;
use super::amounts::Amounts;
use super::neighbour::{Labels, labels, required};
use super::node_facts::Taint;
use super::pod_term::PodTerm;
use super::spread::Spread;
use crate::view::text;

/// What the scheduler looks at of a Pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PodNeeds {
    pub(super) node_selector: BTreeMap<String, String>,
    affinity: Option<Affinity>,
    tolerations: Vec<Toleration>,
    /// What the Pod asks of each resource.
    #[serde(skip)]
    pub(super) requests: Amounts,
    #[serde(skip)]
    pub(super) namespace: String,
    #[serde(skip)]
    pub(super) labels: Labels,
    /// The Pods that it must be near to.
    #[serde(skip)]
    pub(super) attracted: Vec<PodTerm>,
    /// The Pods that it must not be near to.
    #[serde(skip)]
    pub(super) repelled: Vec<PodTerm>,
    /// How it must be spread.
    #[serde(skip)]
    pub(super) spreads: Vec<Spread>,
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

/// One entry of `spec.tolerations`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Toleration {
    key: String,
    operator: String,
    value: String,
    effect: String,
    toleration_seconds: Option<i64>,
}

impl PodNeeds {
    /// What a Pod's spec asks for; none when it cannot be read.
    pub(crate) fn read(pod: &Value) -> Option<Self> {
        let spec = pod.get("spec")?;
        let mut needs = Self::deserialize(spec).ok()?;
        needs.requests = Amounts::of_pod(spec);
        needs.namespace = text(pod, "/metadata/namespace").to_owned();
        needs.labels = labels(pod);
        needs.attracted = required(pod, "podAffinity");
        needs.repelled = required(pod, "podAntiAffinity");
        needs.spreads = Spread::of_pod(pod);
        Some(needs)
    }

    /// Whether it matters to the Pod where others are.
    pub(super) fn looks_around(&self) -> bool {
        !(self.attracted.is_empty() && self.repelled.is_empty() && self.spreads.is_empty())
    }

    /// The tolerations that cover these taints; none when a taint is not covered.
    pub(crate) fn tolerations_of(&self, taints: &[&Taint]) -> Option<Vec<&Toleration>> {
        let is_covered = |taint: &&Taint| self.tolerates(taint);
        if !taints.iter().all(is_covered) {
            return None;
        }
        let covers = |one: &&Toleration| taints.iter().any(|taint| one.covers(taint));
        Some(self.tolerations.iter().filter(covers).collect())
    }

    pub(super) fn required_affinity(&self) -> Option<&NodeSelector> {
        let affinity = self.affinity.as_ref()?.node_affinity.as_ref()?;
        affinity
            .required_during_scheduling_ignored_during_execution
            .as_ref()
    }

    pub(super) fn tolerates(&self, taint: &Taint) -> bool {
        self.tolerations.iter().any(|one| one.covers(taint))
    }
}

impl Toleration {
    /// For how long the taint is tolerated; none for ever, and a negative time is none at all.
    pub(crate) fn seconds(&self) -> Option<u64> {
        let seconds = self.toleration_seconds?;
        Some(u64::try_from(seconds).unwrap_or_default())
    }

    /// As `ToleratesTaint` of k8s.io/component-helpers decides it.
    fn covers(&self, taint: &Taint) -> bool {
        let effect = self.effect.is_empty() || self.effect == taint.effect;
        let key = self.key.is_empty() || self.key == taint.key;
        let value = match self.operator.as_str() {
            "" | "Equal" => self.value == taint.value,
            "Exists" => true,
            _ => false,
        };
        effect && key && value
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{PodNeeds, Taint};

    #[test]
    fn a_toleration_covers_by_key_value_and_effect() {
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
            let needs = PodNeeds::read(&json!({"spec": {"tolerations": [toleration]}})).unwrap();
            assert_eq!(needs.tolerates(&taint), wanted, "{toleration}");
        }
    }
}

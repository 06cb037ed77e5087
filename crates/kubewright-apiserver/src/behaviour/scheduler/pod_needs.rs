use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::affinity::NodeSelector;
use super::node_facts::Taint;

/// What the scheduler looks at of a Pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PodNeeds {
    pub(super) node_selector: BTreeMap<String, String>,
    affinity: Option<Affinity>,
    tolerations: Vec<Toleration>,
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

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Toleration {
    key: String,
    operator: String,
    value: String,
    effect: String,
}

impl PodNeeds {
    /// What a Pod's spec asks for; none when it cannot be read.
    pub(super) fn read(pod: &Value) -> Option<Self> {
        Self::deserialize(pod.get("spec")?).ok()
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

//! Amounts of resources: what nodes have and Pods request.

use std::collections::BTreeMap;

use kubewright_core::Quantity;
use kubewright_kinds::pod_resources;
use serde_json::Value;

/// Quantities by resource, such as `cpu`, `memory` or `example.com/gpu`, rounded up to thousandths.
#[derive(Clone, Debug, Default)]
pub(super) struct ResourceAmounts {
    quantities: BTreeMap<String, Quantity>,
}

impl ResourceAmounts {
    /// Reads a map from resources to quantities. Invalid quantities are omitted.
    pub(super) fn read(quantities: Option<&Value>) -> Self {
        let entries = quantities.and_then(Value::as_object).into_iter().flatten();
        let parsed = entries.filter_map(|(name, quantity)| {
            let amount = match quantity {
                Value::String(text) => Quantity::parse(text)?,
                Value::Number(number) => Quantity::parse(&number.to_string())?,
                _ => return None,
            };
            Some((name.clone(), amount.round_up_to_milli()))
        });
        Self {
            quantities: parsed.collect(),
        }
    }

    /// What a Pod requests.
    pub(super) fn requested_by(pod: &Value) -> Self {
        Self::read(Some(&pod_resources(pod, "requests")))
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (name, amount) in &other.quantities {
            let sum = self.get(name).plus(*amount);
            self.quantities.insert(name.clone(), sum);
        }
    }

    pub(super) fn subtract(&mut self, other: &Self) {
        for (name, amount) in &other.quantities {
            let difference = self.get(name).minus(*amount);
            self.quantities.insert(name.clone(), difference);
        }
    }

    /// The resources of which less is free than requested. `self` is what there is in total.
    pub(super) fn insufficient(&self, used: &Self, requested: &Self) -> Vec<String> {
        let is_insufficient = |(name, amount): &(&String, &Quantity)| {
            let free = self.get(name).minus(used.get(name));
            !amount.is_zero() && !amount.is_negative() && free.cmp_amount(amount).is_lt()
        };
        let insufficient = requested.quantities.iter().filter(is_insufficient);
        insufficient.map(|(name, _)| name.clone()).collect()
    }

    /// The amount of a resource; zero when it is absent.
    fn get(&self, name: &str) -> Quantity {
        let amount = self.quantities.get(name).copied();
        amount.unwrap_or_else(Quantity::zero)
    }
}

/// Amounts are equal whatever suffixes their quantities are written with.
impl PartialEq for ResourceAmounts {
    fn eq(&self, other: &Self) -> bool {
        let is_equal = |((name, amount), (other_name, other)): (
            (&String, &Quantity),
            (&String, &Quantity),
        )| name == other_name && amount.cmp_amount(other).is_eq();
        self.quantities.len() == other.quantities.len()
            && self.quantities.iter().zip(&other.quantities).all(is_equal)
    }
}

impl Eq for ResourceAmounts {}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ResourceAmounts;

    fn amounts(quantities: Value) -> ResourceAmounts {
        ResourceAmounts::read(Some(&quantities))
    }

    #[test]
    fn quantities_are_read_with_every_suffix() {
        for (millis, text) in [
            (100, "100m"),
            (1500, "1.5"),
            (1000, "1"),
            (1_073_741_824_000_i64, "1Gi"),
            (1_536_000, "1.5Ki"),
            (2_000_000, "2k"),
            (5_000_000, "5e3"),
            (1, "1n"),
        ] {
            let expected = amounts(json!({"cpu": format!("{millis}m")}));
            assert_eq!(amounts(json!({"cpu": text})), expected, "{text}");
        }
        for text in ["much", ""] {
            assert_eq!(amounts(json!({"cpu": text})), amounts(json!({})), "{text}");
        }
    }

    #[test]
    fn pod_requests_its_containers_or_its_largest_init_container() {
        let requests = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu}}});
        let mut sidecar = requests("1");
        sidecar["restartPolicy"] = "Always".into();
        let containers = json!([requests("1"), requests("500m")]);
        let pod = json!({"spec": {
            "initContainers": [requests("5"), sidecar, requests("3")],
            "containers": containers,
            "overhead": {"cpu": "100m"},
        }});
        assert_eq!(
            ResourceAmounts::requested_by(&pod),
            amounts(json!({"cpu": "5100m"}))
        );
        let pod = json!({"spec": {"initContainers": [sidecar], "containers": containers}});
        assert_eq!(
            ResourceAmounts::requested_by(&pod),
            amounts(json!({"cpu": "2.5"}))
        );
    }

    #[test]
    fn insufficient_resources_are_named() {
        let total = amounts(json!({"cpu": "2", "example.com/gpu": "1"}));
        let used = amounts(json!({"cpu": "1500m"}));
        let insufficient = |requested| total.insufficient(&used, &amounts(requested));
        assert_eq!(
            insufficient(json!({"cpu": "500m", "example.com/gpu": "1"})),
            [""; 0]
        );
        assert_eq!(
            insufficient(json!({"cpu": "501m", "example.com/gpu": "2", "memory": "0"})),
            ["cpu", "example.com/gpu"]
        );
    }
}

//! What a Pod requests and is limited to as a whole.

use std::collections::BTreeMap;

use kubewright_core::Quantity;
use serde_json::{Map, Value, json};

use crate::json::{items, text};

/// The `requests` or `limits` of a whole Pod: the sum of the containers that run together, or the
/// most that the init containers need at one time (`k8s.io/component-helpers/resource`).
pub fn pod_resources(pod: &Value, list: &str) -> Value {
    let spec = &pod["spec"];
    let mut total = ResourceTotals::default();
    for container in items(&spec["containers"]) {
        total.add(&container["resources"][list]);
    }
    let (mut sidecars, mut init) = (ResourceTotals::default(), ResourceTotals::default());
    for container in items(&spec["initContainers"]) {
        let resources = &container["resources"][list];
        if container["restartPolicy"] == "Always" {
            total.add(resources);
            sidecars.add(resources);
            init.raise_to(&sidecars);
        } else {
            let mut with_sidecars = sidecars.clone();
            with_sidecars.add(resources);
            init.raise_to(&with_sidecars);
        }
    }
    total.raise_to(&init);
    for (name, quantity) in spec["resources"][list].as_object().into_iter().flatten() {
        if let Some(quantity) = Quantity::parse(text(quantity)) {
            total.0.insert(name.clone(), quantity);
        }
    }
    let has_overhead = |name: &String| list == "requests" || total.0.contains_key(name);
    let overhead: Map<String, Value> = spec["overhead"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| has_overhead(name))
        .map(|(name, quantity)| (name.clone(), quantity.clone()))
        .collect();
    total.add(&Value::Object(overhead));
    total.into_value()
}

/// The QoS class of a Pod (`pkg/apis/core/helper/qos`).
pub fn quality_of_service(spec: &Value) -> &'static str {
    let levels: Vec<&Value> = if spec["resources"].is_object() {
        vec![&spec["resources"]]
    } else {
        let containers = items(&spec["containers"]).chain(items(&spec["initContainers"]));
        containers
            .map(|container| &container["resources"])
            .collect()
    };
    let mut is_guaranteed = true;
    let (mut requests, mut limits) = (ResourceTotals::default(), ResourceTotals::default());
    for resources in levels {
        requests.add(&nonzero(&resources["requests"]));
        let level_limits = nonzero(&resources["limits"]);
        is_guaranteed &= level_limits.as_object().is_some_and(|list| list.len() == 2);
        limits.add(&level_limits);
    }
    if requests.0.is_empty() && limits.0.is_empty() {
        return "BestEffort";
    }
    let are_equal = requests.0.len() == limits.0.len()
        && requests.0.iter().all(|(name, request)| {
            let limit = limits.0.get(name);
            limit.is_some_and(|limit| limit.cmp_amount(request).is_eq())
        });
    if is_guaranteed && are_equal {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

/// The quantities of `cpu` and `memory` that are not zero.
fn nonzero(list: &Value) -> Value {
    let counted = ["cpu", "memory"].into_iter().filter_map(|name| {
        let quantity = Quantity::parse(text(&list[name]))?;
        (!quantity.is_zero()).then(|| (name.to_owned(), json!(quantity.to_string())))
    });
    Value::Object(counted.collect())
}

/// Quantities by resource name.
#[derive(Clone, Debug, Default)]
struct ResourceTotals(BTreeMap<String, Quantity>);

impl ResourceTotals {
    fn add(&mut self, list: &Value) {
        for (name, quantity) in list.as_object().into_iter().flatten() {
            let Some(quantity) = Quantity::parse(text(quantity)) else {
                continue;
            };
            let sum = self.0.get(name).map_or(quantity, |sum| sum.plus(quantity));
            self.0.insert(name.clone(), sum);
        }
    }

    /// Raises each quantity to at least that of the other totals.
    fn raise_to(&mut self, other: &Self) {
        for (name, quantity) in &other.0 {
            let present = self.0.get(name);
            if present.is_none_or(|present| present.cmp_amount(quantity).is_lt()) {
                self.0.insert(name.clone(), *quantity);
            }
        }
    }

    fn into_value(self) -> Value {
        let pairs = self.0.into_iter();
        Value::Object(
            pairs
                .map(|(name, quantity)| (name, json!(quantity.to_string())))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{pod_resources, quality_of_service};

    #[test]
    fn pod_requests_the_most_that_it_needs_at_one_time() {
        let takes = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu}}});
        let mut sidecar = takes("1");
        sidecar["restartPolicy"] = json!("Always");
        let pod = json!({"spec": {
            "containers": [takes("1"), takes("500m")],
            "initContainers": [sidecar, takes("4")],
        }});
        assert_eq!(pod_resources(&pod, "requests"), json!({"cpu": "5"}));
    }

    #[test]
    fn pod_with_equal_requests_and_limits_is_guaranteed() {
        let class = |resources: serde_json::Value| {
            quality_of_service(&json!({"containers": [{"resources": resources}]}))
        };
        let all = json!({"cpu": "1", "memory": "1Gi"});
        assert_eq!(class(json!({})), "BestEffort");
        assert_eq!(class(json!({"limits": all, "requests": all})), "Guaranteed");
        assert_eq!(
            class(json!({"limits": all, "requests": {"cpu": "1"}})),
            "Burstable"
        );
    }
}

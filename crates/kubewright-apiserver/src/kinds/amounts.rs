use std::collections::BTreeMap;

use kubewright_wire::schema::Quantity;
use serde_json::{Map, Value, json};

/// What the containers of a Pod request, or are limited to, together: the sum of those that run
/// side by side, or the most that one of those at the start takes
/// (`k8s.io/component-helpers/resource`).
pub(crate) fn pod_amounts(pod: &Value, list: &str) -> Value {
    let spec = &pod["spec"];
    let mut running = Amounts::default();
    for container in items(&spec["containers"]) {
        running.add(&container["resources"][list]);
    }
    let (mut sidecars, mut most) = (Amounts::default(), Amounts::default());
    for container in items(&spec["initContainers"]) {
        if container["restartPolicy"] == "Always" {
            running.add(&container["resources"][list]);
            sidecars.add(&container["resources"][list]);
            most.at_least(&sidecars);
        } else {
            let mut now = sidecars.clone();
            now.add(&container["resources"][list]);
            most.at_least(&now);
        }
    }
    running.at_least(&most);
    let own = spec["resources"][list].as_object();
    for (name, amount) in own.into_iter().flatten() {
        if let Some(amount) = amount.as_str().and_then(Quantity::parse) {
            running.0.insert(name.clone(), amount);
        }
    }
    let is_limited = |name: &String| list == "requests" || running.0.contains_key(name);
    let overhead = spec["overhead"].as_object().into_iter().flatten();
    let overhead: Map<String, Value> = overhead
        .filter(|(name, _)| is_limited(name))
        .map(|(name, amount)| (name.clone(), amount.clone()))
        .collect();
    running.add(&Value::Object(overhead));
    running.into_value()
}

/// How far a Pod can rely on what it asks for (`pkg/apis/core/helper/qos`).
pub(crate) fn quality_of_service(spec: &Value) -> &'static str {
    let all = || items(&spec["containers"]).chain(items(&spec["initContainers"]));
    let levels: Vec<&Value> = match spec["resources"].is_object() {
        true => vec![&spec["resources"]],
        false => all().map(|container| &container["resources"]).collect(),
    };
    let counted = |list: &Value| -> BTreeMap<String, Quantity> {
        ["cpu", "memory"]
            .into_iter()
            .filter_map(|name| {
                let amount = list[name].as_str().and_then(Quantity::parse)?;
                (!amount.is_zero()).then(|| (name.to_owned(), amount))
            })
            .collect()
    };
    let mut is_guaranteed = true;
    let (mut requests, mut limits) = (Amounts::default(), Amounts::default());
    for resources in levels {
        for (name, amount) in counted(&resources["requests"]) {
            requests.add(&json!({name: amount.to_string()}));
        }
        let own = counted(&resources["limits"]);
        is_guaranteed &= own.len() == 2;
        for (name, amount) in own {
            limits.add(&json!({name: amount.to_string()}));
        }
    }
    if requests.0.is_empty() && limits.0.is_empty() {
        return "BestEffort";
    }
    let are_equal = requests.0.len() == limits.0.len()
        && requests.0.iter().all(|(name, request)| {
            let limit = limits.0.get(name);
            limit.is_some_and(|limit| limit.cmp_amount(request).is_eq())
        });
    match is_guaranteed && are_equal {
        true => "Guaranteed",
        false => "Burstable",
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// Amounts by name.
#[derive(Clone, Debug, Default)]
struct Amounts(BTreeMap<String, Quantity>);

impl Amounts {
    fn add(&mut self, list: &Value) {
        for (name, amount) in list.as_object().into_iter().flatten() {
            let Some(amount) = amount.as_str().and_then(Quantity::parse) else {
                continue;
            };
            let sum = self.0.get(name).map_or(amount, |sum| sum.plus(amount));
            self.0.insert(name.clone(), sum);
        }
    }

    fn at_least(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            let is_more = self
                .0
                .get(name)
                .is_none_or(|own| own.cmp_amount(amount).is_lt());
            if is_more {
                self.0.insert(name.clone(), *amount);
            }
        }
    }

    fn into_value(self) -> Value {
        let pairs = self.0.into_iter();
        Value::Object(
            pairs
                .map(|(name, amount)| (name, json!(amount.to_string())))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{pod_amounts, quality_of_service};

    #[test]
    fn a_pod_needs_the_most_it_ever_takes_at_once() {
        let takes = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu}}});
        let mut sidecar = takes("1");
        sidecar["restartPolicy"] = json!("Always");
        let pod = json!({"spec": {
            "containers": [takes("1"), takes("500m")],
            "initContainers": [sidecar, takes("4")],
        }});
        assert_eq!(pod_amounts(&pod, "requests"), json!({"cpu": "5"}));
    }

    #[test]
    fn a_pod_is_guaranteed_what_it_limits_itself_to() {
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

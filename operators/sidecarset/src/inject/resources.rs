//! Computes the resources of a sidecar from those of the Pod's containers.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use regex::Regex;

use super::expression::{Expression, Unit, quantity};
use super::pod_containers::{PodContainers, is_injected};
use crate::{Error, ResourcesExpression, ResourcesPolicy, TargetContainersMode};

/// The sidecar whose resources are computed, for error messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct SidecarName<'a> {
    pub(super) set: &'a str,
    pub(super) container: &'a str,
}

/// One of the two amounts of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Limit,
    Request,
}

/// Computes the resources of a sidecar from those of the Pod's containers.
pub(super) fn resources(
    policy: &ResourcesPolicy,
    pod: PodContainers<'_>,
    name: SidecarName<'_>,
) -> Result<ResourceRequirements, Error> {
    let targets = targets(policy, pod, name)?;
    let mut computed = ResourceRequirements::default();
    let expressions = &policy.resources_expr;
    for (bound, expressions, quantities) in [
        (Bound::Limit, &expressions.limits, &mut computed.limits),
        (
            Bound::Request,
            &expressions.requests,
            &mut computed.requests,
        ),
    ] {
        let Some(expressions) = expressions else {
            continue;
        };
        let mut amounts = BTreeMap::new();
        for (unit, text) in by_unit(expressions) {
            let target_amounts = target_amounts(&targets, bound, unit);
            let Some((text, target_amounts)) = text.zip(target_amounts) else {
                continue;
            };
            let total = total(&target_amounts, policy.target_containers_mode);
            let error = |reason: String| Error::Expression {
                set: name.set.to_owned(),
                container: name.container.to_owned(),
                text: text.clone(),
                reason,
            };
            let value = Expression::parse(text, unit).map_err(error)?.value(total);
            let amount = unit
                .quantity(value)
                .ok_or_else(|| error(format!("with {unit} {total} its value is {value}")))?;
            amounts.insert(unit.to_string(), Quantity(amount));
        }
        *quantities = (!amounts.is_empty()).then_some(amounts);
    }
    Ok(computed)
}

fn by_unit(expressions: &ResourcesExpression) -> [(Unit, Option<&String>); 2] {
    [
        (Unit::Cpu, expressions.cpu.as_ref()),
        (Unit::Memory, expressions.memory.as_ref()),
    ]
}

/// The Pod's own containers that run as long as the sidecar does, and whose name matches.
fn targets<'p>(
    policy: &ResourcesPolicy,
    pod: PodContainers<'p>,
    name: SidecarName<'_>,
) -> Result<Vec<&'p Container>, Error> {
    let pattern = policy
        .target_containers_name_regex
        .as_deref()
        .unwrap_or(".*");
    // An invalid pattern, stored before sets were validated, matches nothing.
    let regex = Regex::new(pattern).ok();
    let is_native = |container: &&Container| container.restart_policy.as_deref() == Some("Always");
    let native = pod.init_containers.iter().filter(is_native);
    let is_target = |container: &&Container| {
        let regex = regex.as_ref();
        !is_injected(container) && regex.is_some_and(|regex| regex.is_match(&container.name))
    };
    let targets: Vec<_> = pod
        .containers
        .iter()
        .chain(native)
        .filter(is_target)
        .collect();
    if targets.is_empty() {
        return Err(Error::NoTarget {
            set: name.set.to_owned(),
            container: name.container.to_owned(),
            pattern: pattern.to_owned(),
        });
    }
    Ok(targets)
}

/// The amount of each target, or none if one of them has no limit. A missing request counts as 0.
fn target_amounts(targets: &[&Container], bound: Bound, unit: Unit) -> Option<Vec<f64>> {
    let amount = |container: &&Container| {
        let resources = container.resources.as_ref();
        let amounts = resources.and_then(|resources| match bound {
            Bound::Limit => resources.limits.as_ref(),
            Bound::Request => resources.requests.as_ref(),
        });
        let amount = amounts
            .and_then(|amounts| amounts.get(&unit.to_string()))
            .and_then(|amount| quantity(&amount.0));
        match bound {
            Bound::Limit => amount,
            Bound::Request => Some(amount.unwrap_or(0.0)),
        }
    };
    targets.iter().map(amount).collect()
}

fn total(amounts: &[f64], mode: TargetContainersMode) -> f64 {
    let amounts = amounts.iter().copied();
    match mode {
        TargetContainersMode::Sum => amounts.sum(),
        TargetContainersMode::Max => amounts.fold(0.0, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::Error;
    use crate::inject::fixtures::{Case, pod_with, set_of};

    fn computed(policy: Value) -> Result<Value, Error> {
        let sidecar = json!({"name": "side", "podInjectPolicy": "AfterAppContainer",
            "resourcesPolicy": policy});
        let case = Case {
            sets: vec![set_of("s", json!({"containers": [sidecar]}))],
            ..Case::default()
        };
        let limited = |cpu: &str, memory: &str| json!({"limits": {"cpu": cpu, "memory": memory}, "requests": {"cpu": cpu}});
        let pod = pod_with(json!({
            "containers": [
                {"name": "one", "resources": limited("1", "1Gi")},
                {"name": "two", "resources": limited("500m", "2Gi")},
                {"name": "free"},
            ],
            "initContainers": [
                {"name": "native", "restartPolicy": "Always", "resources": limited("2", "1Gi")},
                {"name": "first", "resources": limited("9", "9Gi")},
            ],
        }));
        let pod = case.inject(pod)?;
        let side = &pod.spec.unwrap().containers[3];
        Ok(json!(side.resources))
    }

    #[test]
    fn resources_are_computed_from_those_of_the_pods_containers() {
        let cpu = |text: &str| json!({"limits": {"cpu": text}});
        for (policy, expected) in [
            (
                json!({"targetContainersMode": "sum", "targetContainersNameRegex": "^(one|two)$",
                    "resourcesExpr": cpu("cpu * 50%")}),
                json!({"limits": {"cpu": "750m"}}),
            ),
            (
                json!({"targetContainersMode": "max", "targetContainersNameRegex": "one|two|native",
                    "resourcesExpr": {"limits": {"cpu": "cpu", "memory": "memory/2"}}}),
                json!({"limits": {"cpu": "2", "memory": "1073741824"}}),
            ),
            (
                // One container has no limit; its missing request counts as 0.
                json!({"targetContainersMode": "sum",
                    "resourcesExpr": {"limits": {"cpu": "cpu"}, "requests": {"cpu": "cpu"}}}),
                json!({"requests": {"cpu": "3500m"}}),
            ),
        ] {
            let text = policy.to_string();
            assert_eq!(computed(policy).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn pod_without_target_or_value_is_an_error() {
        let none = json!({"targetContainersNameRegex": "^x$", "resourcesExpr": {}});
        assert!(matches!(computed(none), Err(Error::NoTarget { .. })));
        let below = json!({"targetContainersNameRegex": "one",
            "resourcesExpr": {"limits": {"cpu": "cpu - 5"}}});
        assert!(matches!(computed(below), Err(Error::Expression { .. })));
    }
}

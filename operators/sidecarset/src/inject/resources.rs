use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use regex::Regex;

use super::expression::{Expression, Unit, quantity};
use super::is_injected;
use super::pod::PodParts;
use crate::{Error, ResourcesExpression, ResourcesPolicy, TargetContainersMode};

/// Whose resources are computed, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whose<'a> {
    pub(super) set: &'a str,
    pub(super) container: &'a str,
}

/// Which of the two amounts of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Limit,
    Request,
}

/// The resources of a sidecar, computed from those of the Pod's containers.
pub(super) fn resources(
    policy: &ResourcesPolicy,
    pod: PodParts<'_>,
    whose: Whose<'_>,
) -> Result<ResourceRequirements, Error> {
    let targets = targets(policy, pod, whose)?;
    let mut computed = ResourceRequirements::default();
    let expressions = &policy.resources_expr;
    for (bound, expressions, place) in [
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
        for (unit, text) in both(expressions) {
            let total = total(&targets, policy.target_containers_mode, (bound, unit));
            let Some((text, total)) = text.zip(total) else {
                continue;
            };
            let wrong = |why: String| Error::Expression {
                set: whose.set.to_owned(),
                container: whose.container.to_owned(),
                text: text.clone(),
                why,
            };
            let value = Expression::parse(text, unit).map_err(wrong)?.value(total);
            let amount = unit
                .quantity(value)
                .ok_or_else(|| wrong(format!("with {unit} {total} its value is {value}")))?;
            amounts.insert(unit.to_string(), Quantity(amount));
        }
        *place = (!amounts.is_empty()).then_some(amounts);
    }
    Ok(computed)
}

fn both(expressions: &ResourcesExpression) -> [(Unit, Option<&String>); 2] {
    [
        (Unit::Cpu, expressions.cpu.as_ref()),
        (Unit::Memory, expressions.memory.as_ref()),
    ]
}

/// The Pod's own containers that run as long as the sidecar does and are meant.
fn targets<'p>(
    policy: &ResourcesPolicy,
    pod: PodParts<'p>,
    whose: Whose<'_>,
) -> Result<Vec<&'p Container>, Error> {
    let pattern = policy.target_containers_name_regex.as_deref();
    let pattern = pattern.unwrap_or(".*");
    // As validated; one that is not matches nothing.
    let regex = Regex::new(pattern).ok();
    let is_native = |one: &&Container| one.restart_policy.as_deref() == Some("Always");
    let native = pod.init_containers.iter().filter(is_native);
    let is_meant = |one: &&Container| {
        !is_injected(one)
            && regex
                .as_ref()
                .is_some_and(|regex| regex.is_match(&one.name))
    };
    let targets: Vec<_> = pod
        .containers
        .iter()
        .chain(native)
        .filter(is_meant)
        .collect();
    if targets.is_empty() {
        return Err(Error::NoTarget {
            set: whose.set.to_owned(),
            container: whose.container.to_owned(),
            pattern: pattern.to_owned(),
        });
    }
    Ok(targets)
}

/// One number for all; none when one of them has no limit. What has no request asks for nothing.
fn total(
    targets: &[&Container],
    mode: TargetContainersMode,
    (bound, unit): (Bound, Unit),
) -> Option<f64> {
    let amount = |container: &&Container| {
        let resources = container.resources.as_ref();
        let amounts = resources.and_then(|resources| match bound {
            Bound::Limit => resources.limits.as_ref(),
            Bound::Request => resources.requests.as_ref(),
        });
        let amount = amounts.and_then(|amounts| amounts.get(&unit.to_string()));
        let amount = amount.and_then(|amount| quantity(&amount.0));
        match bound {
            Bound::Limit => amount,
            Bound::Request => Some(amount.unwrap_or(0.0)),
        }
    };
    let amounts: Option<Vec<f64>> = targets.iter().map(amount).collect();
    let amounts = amounts?.into_iter();
    Some(match mode {
        TargetContainersMode::Sum => amounts.sum(),
        TargetContainersMode::Max => amounts.fold(0.0, f64::max),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::Error;
    use crate::inject::pod::tests::{Case, pod_with, set_of};

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
    fn resources_follow_from_those_of_the_pods_containers() {
        let cpu = |text: &str| json!({"limits": {"cpu": text}});
        for (policy, wanted) in [
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
                // One of all has no limit; what has no request asks for nothing.
                json!({"targetContainersMode": "sum",
                    "resourcesExpr": {"limits": {"cpu": "cpu"}, "requests": {"cpu": "cpu"}}}),
                json!({"requests": {"cpu": "3500m"}}),
            ),
        ] {
            let text = policy.to_string();
            assert_eq!(computed(policy).unwrap(), wanted, "{text}");
        }
    }

    #[test]
    fn a_pod_without_target_or_value_is_refused() {
        let none = json!({"targetContainersNameRegex": "^x$", "resourcesExpr": {}});
        assert!(matches!(computed(none), Err(Error::NoTarget { .. })));
        let below = json!({"targetContainersNameRegex": "one",
            "resourcesExpr": {"limits": {"cpu": "cpu - 5"}}});
        assert!(matches!(computed(below), Err(Error::Expression { .. })));
    }
}

//! LimitRanger: default and maximum resources of Pods and claims (plugin/pkg/admission/limitranger).

use kubewright_core::{Operation, Quantity};
use kubewright_kinds::core::{LIMIT_RANGE, PERSISTENT_VOLUME_CLAIM, POD};
use kubewright_kinds::pod_resources;
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};

use crate::admission::attributes::Attributes;
use crate::admission::context::AdmissionContext;

const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// The limits of the LimitRanges in a namespace.
fn limits(context: &AdmissionContext, namespace: &str) -> Vec<Value> {
    let snapshot = context.store.snapshot();
    let ranges = snapshot.list(LIMIT_RANGE.resource_id(), Some(namespace));
    ranges
        .map(|range| range.value()["spec"]["limits"].clone())
        .collect()
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn entries(map: &Value) -> impl Iterator<Item = (&String, &Value)> {
    map.as_object().into_iter().flatten()
}

/// Sets the resources that LimitRanges give to containers without their own.
pub(super) fn mutate(
    context: &AdmissionContext,
    attributes: &mut Attributes,
) -> Result<(), Status> {
    if !is_new_pod(attributes) {
        return Ok(());
    }
    let limits = limits(context, &attributes.namespace);
    if let Some(pod) = &mut attributes.object {
        set_defaults(&limits, pod);
    }
    Ok(())
}

fn is_new_pod(attributes: &Attributes) -> bool {
    attributes.is_create() && attributes.is_main() && attributes.resource.is(&POD)
}

fn set_defaults(limits: &[Value], pod: &mut Value) {
    for limits in limits {
        let mut given: Vec<String> = Vec::new();
        for (list, what) in [
            ("containers", "container"),
            ("initContainers", "init container"),
        ] {
            let containers = pod["spec"].get_mut(list).and_then(Value::as_array_mut);
            for container in containers.into_iter().flatten() {
                given.extend(merge(container, limits, what));
            }
        }
        if !given.is_empty() {
            let text = format!("LimitRanger plugin set: {}", given.join("; "));
            pod["metadata"]["annotations"][ANNOTATION] = json!(text);
        }
    }
}

fn merge(container: &mut Value, limits: &Value, what: &str) -> Vec<String> {
    let name = container["name"].as_str().unwrap_or_default().to_owned();
    let mut changes = Vec::new();
    let sources = [
        ("requests", "defaultRequest", "request"),
        ("limits", "default", "limit"),
    ];
    for (list, source, word) in sources {
        let mut set: Vec<String> = Vec::new();
        for limit in items(limits).filter(|limit| limit["type"] == "Container") {
            for (resource, amount) in entries(&limit[source]) {
                let resources = &mut container["resources"];
                if !resources[list].is_object() {
                    resources[list] = Value::Object(Map::new());
                }
                if resources[list].get(resource).is_none() {
                    resources[list][resource] = amount.clone();
                    set.push(resource.clone());
                }
            }
        }
        if !set.is_empty() {
            set.sort();
            changes.push(format!("{} {word} for {what} {name}", set.join(", ")));
        }
    }
    changes
}

/// Denies an object beyond the limits of its namespace.
pub(super) fn validate(context: &AdmissionContext, attributes: &Attributes) -> Result<(), Status> {
    let is_write = matches!(attributes.operation, Operation::Create | Operation::Update);
    let is_claim =
        is_write && attributes.is_main() && attributes.resource.is(&PERSISTENT_VOLUME_CLAIM);
    if !is_new_pod(attributes) && !is_claim {
        return Ok(());
    }
    let object = attributes.object();
    for limits in limits(context, &attributes.namespace) {
        let mut faults: Vec<String> = Vec::new();
        for limit in items(&limits) {
            match limit["type"].as_str().unwrap_or_default() {
                "Container" if !is_claim => {
                    let containers = ["containers", "initContainers"]
                        .into_iter()
                        .flat_map(|list| items(&object["spec"][list]));
                    let found = containers
                        .flat_map(|container| Amounts::of(&container["resources"]).faults(limit));
                    faults.extend(found);
                }
                "Pod" if !is_claim => {
                    let resources = json!({
                        "requests": pod_resources(object, "requests"),
                        "limits": pod_resources(object, "limits"),
                    });
                    faults.extend(Amounts::of(&resources).faults(limit));
                }
                "PersistentVolumeClaim" if is_claim => {
                    faults.extend(Amounts::of(&object["spec"]["resources"]).claim_faults(limit));
                }
                _ => {}
            }
        }
        if !faults.is_empty() {
            faults.dedup();
            let why = match faults.len() {
                1 => faults.swap_remove(0),
                _ => format!("[{}]", faults.join(", ")),
            };
            return Err(attributes.forbidden(&why));
        }
    }
    Ok(())
}

/// One resource of a limit's `min`, `max` or `maxLimitRequestRatio`.
struct Bound<'a> {
    kind: &'a str,
    resource: &'a str,
    amount: &'a str,
}

impl Bound<'_> {
    fn quantity(&self) -> Option<Quantity> {
        Quantity::parse(self.amount)
    }

    fn usage(&self, extreme: &str) -> String {
        let Self {
            kind,
            resource,
            amount,
        } = self;
        format!("{extreme} {resource} usage per {kind} is {amount}")
    }
}

fn bounds<'a>(kind: &'a str, list: &'a Value) -> impl Iterator<Item = Bound<'a>> {
    entries(list).filter_map(move |(resource, amount)| {
        Some(Bound {
            kind,
            resource,
            amount: amount.as_str()?,
        })
    })
}

/// The resource requests and limits of a container, a Pod or a claim.
struct Amounts<'a> {
    requests: &'a Value,
    limits: &'a Value,
}

fn amount(list: &Value, name: &str) -> Option<Quantity> {
    list.get(name)?.as_str().and_then(Quantity::parse)
}

impl<'a> Amounts<'a> {
    fn of(resources: &'a Value) -> Self {
        Self {
            requests: &resources["requests"],
            limits: &resources["limits"],
        }
    }

    fn faults(&self, limit: &Value) -> Vec<String> {
        let kind = limit["type"].as_str().unwrap_or_default();
        let least = bounds(kind, &limit["min"]).filter_map(|bound| self.below(&bound, self.limits));
        let most = bounds(kind, &limit["max"]).filter_map(|bound| self.above(&bound));
        let ratios = bounds(kind, &limit["maxLimitRequestRatio"])
            .filter_map(|bound| self.exceeds_ratio(&bound));
        least.chain(most).chain(ratios).collect()
    }

    /// Of a claim only what it requests counts.
    fn claim_faults(&self, limit: &Value) -> Vec<String> {
        let kind = "PersistentVolumeClaim";
        let least =
            bounds(kind, &limit["min"]).filter_map(|bound| self.below(&bound, &Value::Null));
        let most = bounds(kind, &limit["max"]).filter_map(|bound| {
            let start = bound.usage("maximum");
            let most = bound.quantity()?;
            match amount(self.requests, bound.resource) {
                None => Some(format!("{start}.  No request is specified")),
                Some(request) if request.cmp_amount(&most).is_gt() => {
                    Some(format!("{start}, but request is {request}"))
                }
                Some(_) => None,
            }
        });
        least.chain(most).collect()
    }

    fn below(&self, bound: &Bound<'_>, limits: &Value) -> Option<String> {
        let start = bound.usage("minimum");
        let least = bound.quantity()?;
        let Some(request) = amount(self.requests, bound.resource) else {
            return Some(format!("{start}.  No request is specified"));
        };
        if request.cmp_amount(&least).is_lt() {
            return Some(format!("{start}, but request is {request}"));
        }
        let limit = amount(limits, bound.resource)?;
        limit
            .cmp_amount(&least)
            .is_lt()
            .then(|| format!("{start}, but limit is {limit}"))
    }

    fn above(&self, bound: &Bound<'_>) -> Option<String> {
        let start = bound.usage("maximum");
        let most = bound.quantity()?;
        let Some(limit) = amount(self.limits, bound.resource) else {
            return Some(format!("{start}.  No limit is specified"));
        };
        if limit.cmp_amount(&most).is_gt() {
            return Some(format!("{start}, but limit is {limit}"));
        }
        let request = amount(self.requests, bound.resource)?;
        request
            .cmp_amount(&most)
            .is_gt()
            .then(|| format!("{start}, but request is {request}"))
    }

    fn exceeds_ratio(&self, bound: &Bound<'_>) -> Option<String> {
        let start = format!(
            "{} max limit to request ratio per {} is {}",
            bound.resource, bound.kind, bound.amount
        );
        let most = bound.quantity()?;
        let given = |list: &Value| amount(list, bound.resource).filter(|amount| !amount.is_zero());
        let Some(request) = given(self.requests) else {
            return Some(format!(
                "{start}, but no request is specified or request is 0"
            ));
        };
        let Some(limit) = given(self.limits) else {
            return Some(format!("{start}, but no limit is specified or limit is 0"));
        };
        let ratio = limit.ratio(&request);
        let one = Quantity::parse("1")?;
        (ratio > most.ratio(&one)).then(|| format!("{start}, but provided ratio is {ratio:.6}"))
    }
}

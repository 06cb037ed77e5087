//! LimitRanger: default and maximum resources of Pods and claims (plugin/pkg/admission/limitranger).

use kubewright_core::Quantity;
use kubewright_kinds::core::{LIMIT_RANGE, PERSISTENT_VOLUME_CLAIM, POD};
use kubewright_kinds::json::{items, text};
use kubewright_kinds::pod_resources;
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};

use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::aggregate::aggregate;

const ANNOTATION: &str = "kubernetes.io/limit-ranger";
/// The type of limits that hold for each container.
const CONTAINER: &str = "Container";

/// Sets the resources that LimitRanges give to containers without their own.
pub(super) fn mutate(
    context: &AdmissionContext,
    attributes: &mut AdmissionAttributes,
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

fn is_new_pod(attributes: &AdmissionAttributes) -> bool {
    attributes.is_create() && attributes.is_main() && attributes.resource.is(&POD)
}

/// The limits of the LimitRanges in a namespace.
fn limits(context: &AdmissionContext, namespace: &str) -> Vec<Value> {
    let snapshot = context.store.snapshot();
    let ranges = snapshot.list(LIMIT_RANGE.resource_id(), Some(namespace));
    ranges
        .map(|range| range.value()["spec"]["limits"].clone())
        .collect()
}

fn entries(map: &Value) -> impl Iterator<Item = (&String, &Value)> {
    map.as_object().into_iter().flatten()
}

fn set_defaults(limits: &[Value], pod: &mut Value) {
    for limits in limits {
        let mut changes: Vec<String> = Vec::new();
        for (list, what) in [
            ("containers", "container"),
            ("initContainers", "init container"),
        ] {
            let containers = pod["spec"].get_mut(list).and_then(Value::as_array_mut);
            for container in containers.into_iter().flatten() {
                changes.extend(merge(container, limits, what));
            }
        }
        if !changes.is_empty() {
            let changes = format!("LimitRanger plugin set: {}", changes.join("; "));
            pod["metadata"]["annotations"][ANNOTATION] = json!(changes);
        }
    }
}

/// Sets the defaults of one LimitRange in a container. Returns what it set, as the annotation lists
/// it.
fn merge(container: &mut Value, limits: &Value, what: &str) -> Vec<String> {
    let name = text(&container["name"]).to_owned();
    let mut changes = Vec::new();
    let sources = [
        ("requests", "defaultRequest", "request"),
        ("limits", "default", "limit"),
    ];
    for (list, source, label) in sources {
        let mut set: Vec<String> = Vec::new();
        for limit in items(limits).filter(|limit| limit["type"] == CONTAINER) {
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
            changes.push(format!("{} {label} for {what} {name}", set.join(", ")));
        }
    }
    changes
}

/// Denies an object beyond the limits of its namespace.
pub(super) fn validate(
    context: &AdmissionContext,
    attributes: &AdmissionAttributes,
) -> Result<(), Status> {
    let is_claim = attributes.is_write()
        && attributes.is_main()
        && attributes.resource.is(&PERSISTENT_VOLUME_CLAIM);
    let exceeded = if is_new_pod(attributes) {
        pod_exceeds
    } else if is_claim {
        claim_exceeds
    } else {
        return Ok(());
    };
    for limits in limits(context, &attributes.namespace) {
        let mut messages: Vec<String> = items(&limits)
            .flat_map(|limit| exceeded(attributes.object(), limit))
            .collect();
        messages.dedup();
        if !messages.is_empty() {
            return Err(attributes.forbidden(&aggregate(&messages)));
        }
    }
    Ok(())
}

/// The messages for a Pod beyond a limit of Pods or containers.
fn pod_exceeds(pod: &Value, limit: &Value) -> Vec<String> {
    let kind = text(&limit["type"]);
    if kind == CONTAINER {
        ["containers", "initContainers"]
            .into_iter()
            .flat_map(|list| items(&pod["spec"][list]))
            .flat_map(|container| Amounts::of(&container["resources"]).exceeding(limit))
            .collect()
    } else if kind == POD.kind {
        let resources = json!({
            "requests": pod_resources(pod, "requests"),
            "limits": pod_resources(pod, "limits"),
        });
        Amounts::of(&resources).exceeding(limit)
    } else {
        Vec::new()
    }
}

/// The messages for a claim beyond a limit of claims. Only its requests count.
fn claim_exceeds(claim: &Value, limit: &Value) -> Vec<String> {
    if text(&limit["type"]) != PERSISTENT_VOLUME_CLAIM.kind {
        return Vec::new();
    }
    let amounts = Amounts {
        limits: &Value::Null,
        ..Amounts::of(&claim["spec"]["resources"])
    };
    amounts.requests_exceeding(limit)
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

    /// The messages for requests and limits outside the bounds.
    fn exceeding(&self, limit: &Value) -> Vec<String> {
        let kind = text(&limit["type"]);
        let minimum = bounds(kind, &limit["min"]).filter_map(|bound| self.below(&bound));
        let maximum = bounds(kind, &limit["max"]).filter_map(|bound| self.above(&bound));
        let ratios = bounds(kind, &limit["maxLimitRequestRatio"])
            .filter_map(|bound| self.exceeds_ratio(&bound));
        minimum.chain(maximum).chain(ratios).collect()
    }

    /// The messages for requests outside the bounds.
    fn requests_exceeding(&self, limit: &Value) -> Vec<String> {
        let kind = text(&limit["type"]);
        let minimum = bounds(kind, &limit["min"]).filter_map(|bound| self.below(&bound));
        let maximum = bounds(kind, &limit["max"]).filter_map(|bound| self.request_above(&bound));
        minimum.chain(maximum).collect()
    }

    fn below(&self, bound: &Bound<'_>) -> Option<String> {
        let start = bound.usage("minimum");
        let minimum = bound.quantity()?;
        let Some(request) = amount(self.requests, bound.resource) else {
            return Some(format!("{start}.  No request is specified"));
        };
        if request.cmp_amount(&minimum).is_lt() {
            return Some(format!("{start}, but request is {request}"));
        }
        let limit = amount(self.limits, bound.resource)?;
        limit
            .cmp_amount(&minimum)
            .is_lt()
            .then(|| format!("{start}, but limit is {limit}"))
    }

    fn above(&self, bound: &Bound<'_>) -> Option<String> {
        let start = bound.usage("maximum");
        let maximum = bound.quantity()?;
        let Some(limit) = amount(self.limits, bound.resource) else {
            return Some(format!("{start}.  No limit is specified"));
        };
        if limit.cmp_amount(&maximum).is_gt() {
            return Some(format!("{start}, but limit is {limit}"));
        }
        let request = amount(self.requests, bound.resource)?;
        request
            .cmp_amount(&maximum)
            .is_gt()
            .then(|| format!("{start}, but request is {request}"))
    }

    fn request_above(&self, bound: &Bound<'_>) -> Option<String> {
        let start = bound.usage("maximum");
        let maximum = bound.quantity()?;
        let Some(request) = amount(self.requests, bound.resource) else {
            return Some(format!("{start}.  No request is specified"));
        };
        request
            .cmp_amount(&maximum)
            .is_gt()
            .then(|| format!("{start}, but request is {request}"))
    }

    fn exceeds_ratio(&self, bound: &Bound<'_>) -> Option<String> {
        let start = format!(
            "{} max limit to request ratio per {} is {}",
            bound.resource, bound.kind, bound.amount
        );
        let maximum = bound.quantity()?;
        let nonzero =
            |list: &Value| amount(list, bound.resource).filter(|amount| !amount.is_zero());
        let Some(request) = nonzero(self.requests) else {
            return Some(format!(
                "{start}, but no request is specified or request is 0"
            ));
        };
        let Some(limit) = nonzero(self.limits) else {
            return Some(format!("{start}, but no limit is specified or limit is 0"));
        };
        let ratio = limit.ratio(&request);
        let unit = Quantity::parse("1")?;
        (ratio > maximum.ratio(&unit)).then(|| format!("{start}, but provided ratio is {ratio:.6}"))
    }
}

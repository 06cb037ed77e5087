use kubewright_wire::schema::Quantity;
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};

use super::Attributes;
use crate::kinds::pod_amounts;

const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// The limits that count in the namespace of a request about a Pod or a claim.
fn limits(attributes: &Attributes<'_>) -> Vec<Value> {
    let snapshot = attributes.server.store().snapshot();
    let ranges = snapshot.list("limitranges", attributes.namespace);
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

/// Fills in the amounts that a LimitRange gives to containers without their own
/// (plugin/pkg/admission/limitranger).
pub(super) fn fill_in(attributes: &Attributes<'_>, pod: &mut Value) {
    if !attributes.is_create_of("", "Pod") {
        return;
    }
    for limits in limits(attributes) {
        let mut given: Vec<String> = Vec::new();
        for (list, what) in [
            ("containers", "container"),
            ("initContainers", "init container"),
        ] {
            let containers = pod["spec"].get_mut(list).and_then(Value::as_array_mut);
            for container in containers.into_iter().flatten() {
                given.extend(merge(container, &limits, what));
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
    let mut told = Vec::new();
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
            told.push(format!("{} {word} for {what} {name}", set.join(", ")));
        }
    }
    told
}

/// Whether an object keeps to the limits of its namespace.
pub(super) fn check(attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
    let is_claim = attributes.served.is("", "PersistentVolumeClaim");
    if !attributes.is_create_of("", "Pod") && !is_claim {
        return Ok(());
    }
    for limits in limits(attributes) {
        let mut faults: Vec<String> = Vec::new();
        for limit in items(&limits) {
            match limit["type"].as_str().unwrap_or_default() {
                "Container" if !is_claim => {
                    let containers = ["containers", "initContainers"]
                        .into_iter()
                        .flat_map(|list| items(&object["spec"][list]));
                    let found =
                        containers.flat_map(|one| Amounts::of(&one["resources"]).faults(limit));
                    faults.extend(found);
                }
                "Pod" if !is_claim => {
                    let resources = json!({
                        "requests": pod_amounts(object, "requests"),
                        "limits": pod_amounts(object, "limits"),
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
            return Err(attributes.forbidden(object, &why));
        }
    }
    Ok(())
}

/// What something requests and is limited to.
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
        let least = entries(&limit["min"]).filter_map(|one| self.below(kind, one, self.limits));
        let most = entries(&limit["max"]).filter_map(|one| self.above(kind, one));
        let ratios = entries(&limit["maxLimitRequestRatio"]);
        let ratios = ratios.filter_map(|one| self.beyond(kind, one));
        least.chain(most).chain(ratios).collect()
    }

    /// Of a claim only what it requests counts.
    fn claim_faults(&self, limit: &Value) -> Vec<String> {
        let kind = "PersistentVolumeClaim";
        let least = entries(&limit["min"]).filter_map(|one| self.below(kind, one, &Value::Null));
        let most = entries(&limit["max"]).filter_map(|(name, most)| {
            let start = format!("maximum {name} usage per {kind} is {}", most.as_str()?);
            let most = Quantity::parse(most.as_str()?)?;
            match amount(self.requests, name) {
                None => Some(format!("{start}.  No request is specified")),
                Some(request) if request.cmp_amount(&most).is_gt() => {
                    Some(format!("{start}, but request is {request}"))
                }
                Some(_) => None,
            }
        });
        least.chain(most).collect()
    }

    fn below(
        &self,
        kind: &str,
        (name, least): (&String, &Value),
        limits: &Value,
    ) -> Option<String> {
        let start = format!("minimum {name} usage per {kind} is {}", least.as_str()?);
        let least = Quantity::parse(least.as_str()?)?;
        let Some(request) = amount(self.requests, name) else {
            return Some(format!("{start}.  No request is specified"));
        };
        if request.cmp_amount(&least).is_lt() {
            return Some(format!("{start}, but request is {request}"));
        }
        let limit = amount(limits, name)?;
        limit
            .cmp_amount(&least)
            .is_lt()
            .then(|| format!("{start}, but limit is {limit}"))
    }

    fn above(&self, kind: &str, (name, most): (&String, &Value)) -> Option<String> {
        let start = format!("maximum {name} usage per {kind} is {}", most.as_str()?);
        let most = Quantity::parse(most.as_str()?)?;
        let Some(limit) = amount(self.limits, name) else {
            return Some(format!("{start}.  No limit is specified"));
        };
        if limit.cmp_amount(&most).is_gt() {
            return Some(format!("{start}, but limit is {limit}"));
        }
        let request = amount(self.requests, name)?;
        request
            .cmp_amount(&most)
            .is_gt()
            .then(|| format!("{start}, but request is {request}"))
    }

    fn beyond(&self, kind: &str, (name, most): (&String, &Value)) -> Option<String> {
        let start = format!(
            "{name} max limit to request ratio per {kind} is {}",
            most.as_str()?
        );
        let most = Quantity::parse(most.as_str()?)?;
        let given = |list: &Value| amount(list, name).filter(|amount| !amount.is_zero());
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

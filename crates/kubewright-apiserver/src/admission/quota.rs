use std::collections::BTreeMap;

use kubewright_wire::schema::Quantity;
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};

use super::{Attributes, is_in_scope};
use crate::kinds::pod_amounts;
use crate::store::{Expected, Key, Object};

/// How much of what an object uses, by the names that quotas count under.
pub(super) type Usage = BTreeMap<String, Quantity>;

const QUOTAS: &str = "resourcequotas";
/// How often a count is tried again when others count in between.
const ATTEMPTS: usize = 16;

/// What an object of a namespaced resource (`deployments.apps`) uses (`pkg/quota/v1/evaluator` of k8s.io/kubernetes).
pub(crate) fn quota_usage(resource: &str, object: &Value) -> Usage {
    let mut usage = Usage::new();
    let one = Quantity::parse("1").unwrap_or_else(Quantity::zero);
    usage.insert(format!("count/{resource}"), one);
    match resource {
        "pods" if is_ended(object) => {}
        "pods" => pod_usage(object, one, &mut usage),
        "persistentvolumeclaims" => {
            usage.insert(resource.to_owned(), one);
            let size = object.pointer("/spec/resources/requests/storage");
            if let Some(size) = size.and_then(Value::as_str).and_then(Quantity::parse) {
                usage.insert("requests.storage".to_owned(), size);
            }
        }
        "services" => service_usage(object, one, &mut usage),
        "secrets" | "configmaps" | "replicationcontrollers" | "resourcequotas" => {
            usage.insert(resource.to_owned(), one);
        }
        _ => {}
    }
    usage
}

/// A Pod that ended uses nothing but its place.
fn is_ended(pod: &Value) -> bool {
    matches!(
        pod.pointer("/status/phase").and_then(Value::as_str),
        Some("Succeeded" | "Failed")
    )
}

fn pod_usage(pod: &Value, one: Quantity, usage: &mut Usage) {
    usage.insert("pods".to_owned(), one);
    for list in ["requests", "limits"] {
        let amounts = pod_amounts(pod, list);
        for (name, amount) in amounts.as_object().into_iter().flatten() {
            let Some(amount) = amount.as_str().and_then(Quantity::parse) else {
                continue;
            };
            usage.insert(format!("{list}.{name}"), amount);
            let has_short_name = matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage");
            if list == "requests" && (has_short_name || name.starts_with("hugepages-")) {
                usage.insert(name.clone(), amount);
            }
        }
    }
}

fn service_usage(service: &Value, one: Quantity, usage: &mut Usage) {
    usage.insert("services".to_owned(), one);
    let ports = service["spec"]["ports"].as_array().map_or(0, Vec::len);
    let ports = Quantity::parse(&ports.to_string()).unwrap_or_else(Quantity::zero);
    let kind = service["spec"]["type"].as_str().unwrap_or_default();
    if kind == "LoadBalancer" {
        usage.insert("services.loadbalancers".to_owned(), one);
    }
    if matches!(kind, "NodePort" | "LoadBalancer") {
        usage.insert("services.nodeports".to_owned(), ports);
    }
}

/// Refuses what exceeds a quota of the namespace, and counts what does not
/// (`k8s.io/apiserver/pkg/admission/plugin/resourcequota`).
pub(super) fn check(attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
    let Some(namespace) = attributes.namespace else {
        return Ok(());
    };
    if attributes.served.is("", "ResourceQuota") && attributes.old.is_some() {
        return Ok(());
    }
    let snapshot = attributes.server.store().snapshot();
    let quotas: Vec<String> = snapshot
        .list(QUOTAS, Some(namespace))
        .map(|quota| quota.name().to_owned())
        .collect();
    drop(snapshot);
    if quotas.is_empty() {
        return Ok(());
    }
    let mut usage = quota_usage(&attributes.served.id, object);
    if let Some(old) = attributes.old {
        subtract(&mut usage, &quota_usage(&attributes.served.id, old.value()));
    }
    for name in quotas {
        let key = Key::new(QUOTAS, Some(namespace), &name);
        charge(attributes, object, &key, &usage)?;
    }
    Ok(())
}

fn subtract(usage: &mut Usage, before: &Usage) {
    for (name, amount) in usage.iter_mut() {
        if let Some(before) = before.get(name) {
            *amount = amount.minus(*before);
        }
    }
    usage.retain(|_, amount| !amount.is_zero() && !amount.is_negative());
}

/// Adds the usage to one quota. Kubernetes does so before the object is stored, too: what is
/// counted and then not stored is put right when the quota is counted anew.
fn charge(
    attributes: &Attributes<'_>,
    object: &Value,
    key: &Key,
    usage: &Usage,
) -> Result<(), Status> {
    let store = attributes.server.store();
    for _ in 0..ATTEMPTS {
        let Some(quota) = store.get(key) else {
            return Ok(());
        };
        let Some(charged) = charged(attributes, object, &quota, usage)? else {
            return Ok(());
        };
        let is_stored = attributes.is_dry_run
            || store
                .put(key.clone(), Expected::At(quota.revision()), charged)
                .is_ok();
        if is_stored {
            return Ok(());
        }
    }
    Ok(())
}

/// The quota with the usage added; none where it does not count any of it.
fn charged(
    attributes: &Attributes<'_>,
    object: &Value,
    quota: &Object,
    usage: &Usage,
) -> Result<Option<Value>, Status> {
    let value = quota.value();
    if !is_in_scope(value, &attributes.served.id, object) {
        return Ok(None);
    }
    let hard = value["status"]["hard"].as_object();
    let counted: Vec<(&String, &Quantity)> = usage
        .iter()
        .filter(|(name, _)| hard.is_some_and(|hard| hard.contains_key(*name)))
        .collect();
    must_say(attributes, object, quota)?;
    if counted.is_empty() {
        return Ok(None);
    }
    let used = |name: &str| {
        let used = value["status"]["used"][name].as_str();
        used.and_then(Quantity::parse)
            .unwrap_or_else(Quantity::zero)
    };
    let limit = |name: &str| {
        let hard = value["status"]["hard"][name].as_str();
        hard.and_then(Quantity::parse)
            .unwrap_or_else(Quantity::zero)
    };
    let over: Vec<&(&String, &Quantity)> = counted
        .iter()
        .filter(|(name, amount)| used(name).plus(**amount).cmp_amount(&limit(name)).is_gt())
        .collect();
    if !over.is_empty() {
        let list = |amount: &dyn Fn(&str, &Quantity) -> Quantity| -> String {
            let pairs = over
                .iter()
                .map(|(name, asked)| format!("{name}={}", amount(name, asked)));
            pairs.collect::<Vec<_>>().join(",")
        };
        let why = format!(
            "exceeded quota: {}, requested: {}, used: {}, limited: {}",
            quota.name(),
            list(&|_, asked| *asked),
            list(&|name, _| used(name)),
            list(&|name, _| limit(name)),
        );
        return Err(attributes.forbidden(object, &why));
    }
    let mut charged = value.clone();
    if !charged["status"]["used"].is_object() {
        charged["status"]["used"] = Value::Object(Map::new());
    }
    for (name, amount) in counted {
        charged["status"]["used"][name] = json!(used(name).plus(*amount).to_string());
    }
    Ok(Some(charged))
}

/// Where a quota counts an amount, each container of a new Pod must say its own
/// (`podEvaluator.Constraints`).
fn must_say(attributes: &Attributes<'_>, pod: &Value, quota: &Object) -> Result<(), Status> {
    if !attributes.is_create_of("", "Pod") {
        return Ok(());
    }
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let hard = quota.value()["status"]["hard"].as_object();
    for name in hard.into_iter().flatten().map(|(name, _)| name) {
        let (list, resource) = match name.split_once('.') {
            Some(("requests", resource)) => ("requests", resource),
            Some(("limits", resource)) => ("limits", resource),
            None => ("requests", name.as_str()),
            Some(_) => continue,
        };
        if !matches!(resource, "cpu" | "memory") {
            continue;
        }
        for containers in ["containers", "initContainers"] {
            let containers = pod["spec"][containers].as_array().into_iter().flatten();
            let silent = containers.filter(|one| one["resources"][list].get(resource).is_none());
            let names = silent.filter_map(|one| one["name"].as_str().map(str::to_owned));
            missing.entry(name.clone()).or_default().extend(names);
        }
    }
    missing.retain(|_, containers| !containers.is_empty());
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing
        .iter()
        .map(|(name, containers)| format!("{name} for: {}", containers.join(",")));
    let why = format!(
        "failed quota: {}: must specify {}",
        quota.name(),
        list.collect::<Vec<_>>().join("; ")
    );
    Err(attributes.forbidden(pod, &why))
}

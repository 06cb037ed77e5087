//! ResourceQuota: no namespace uses more than its quotas allow
//! (k8s.io/apiserver/pkg/admission/plugin/resourcequota).

use std::collections::BTreeMap;

use kubewright_core::Quantity;
use kubewright_kinds::core::{POD, RESOURCE_QUOTA};
use kubewright_kinds::json::items;
use kubewright_kinds::quota::{Usage, is_in_scope, quota_usage};
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};

use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::store::{Expected, Key, Object};

/// How often a write to a quota is tried while other writes conflict with it.
const MAX_ATTEMPTS: usize = 16;

/// Denies an object that exceeds a quota of its namespace, and counts any other in the quotas.
pub(crate) fn charge(
    context: &AdmissionContext,
    attributes: &AdmissionAttributes,
) -> Result<(), Status> {
    let resource = &attributes.resource;
    let is_quota_update = resource.is(&RESOURCE_QUOTA) && attributes.old.is_some();
    if !attributes.is_main() || !resource.is_namespaced() || is_quota_update {
        return Ok(());
    }
    let namespace = attributes.namespace.as_str();
    let snapshot = context.store.snapshot();
    let quotas: Vec<String> = snapshot
        .list(RESOURCE_QUOTA.resource_id(), Some(namespace))
        .map(|quota| quota.name().to_owned())
        .collect();
    drop(snapshot);
    if quotas.is_empty() {
        return Ok(());
    }
    let mut usage = quota_usage(&resource.id, attributes.object());
    if let Some(old) = attributes.old() {
        subtract(&mut usage, &quota_usage(&resource.id, old));
    }
    for name in quotas {
        let key = Key::new(RESOURCE_QUOTA.resource_id(), Some(namespace), &name);
        charge_quota(context, attributes, &key, &usage)?;
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

/// Adds the usage to one quota. As in Kubernetes, this happens before the object is stored: the
/// controller corrects the count if the object is not stored in the end.
fn charge_quota(
    context: &AdmissionContext,
    attributes: &AdmissionAttributes,
    key: &Key,
    usage: &Usage,
) -> Result<(), Status> {
    let store = &context.store;
    for _ in 0..MAX_ATTEMPTS {
        let Some(quota) = store.get(key) else {
            return Ok(());
        };
        let Some(charged) = charged(attributes, &quota, usage)? else {
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

/// The quota with the usage added; none if it counts none of the used resources.
fn charged(
    attributes: &AdmissionAttributes,
    quota: &Object,
    usage: &Usage,
) -> Result<Option<Value>, Status> {
    let value = quota.value();
    if !is_in_scope(value, &attributes.resource.id, attributes.object()) {
        return Ok(None);
    }
    let hard = value["status"]["hard"].as_object();
    let counted: Vec<(&String, &Quantity)> = usage
        .iter()
        .filter(|(name, _)| hard.is_some_and(|hard| hard.contains_key(*name)))
        .collect();
    require_resources(attributes, quota)?;
    if counted.is_empty() {
        return Ok(None);
    }
    let quantity = |field: &str, name: &str| {
        let quantity = value["status"][field][name].as_str();
        quantity
            .and_then(Quantity::parse)
            .unwrap_or_else(Quantity::zero)
    };
    let used = |name: &str| quantity("used", name);
    let limit = |name: &str| quantity("hard", name);
    let exceeded: Vec<&(&String, &Quantity)> = counted
        .iter()
        .filter(|(name, amount)| used(name).plus(**amount).cmp_amount(&limit(name)).is_gt())
        .collect();
    if !exceeded.is_empty() {
        let list = |amount: &dyn Fn(&str, &Quantity) -> Quantity| -> String {
            let pairs = exceeded
                .iter()
                .map(|(name, requested)| format!("{name}={}", amount(name, requested)));
            pairs.collect::<Vec<_>>().join(",")
        };
        let why = format!(
            "exceeded quota: {}, requested: {}, used: {}, limited: {}",
            quota.name(),
            list(&|_, requested| *requested),
            list(&|name, _| used(name)),
            list(&|name, _| limit(name)),
        );
        return Err(attributes.forbidden(&why));
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

/// Where a quota counts a resource, each container of a new Pod must specify it
/// (`podEvaluator.Constraints`).
fn require_resources(attributes: &AdmissionAttributes, quota: &Object) -> Result<(), Status> {
    if !attributes.is_create() || !attributes.resource.is(&POD) {
        return Ok(());
    }
    let pod = attributes.object();
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
        for field in ["containers", "initContainers"] {
            let names = items(&pod["spec"][field])
                .filter(|container| container["resources"][list].get(resource).is_none())
                .filter_map(|container| container["name"].as_str().map(str::to_owned));
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
    Err(attributes.forbidden(&why))
}

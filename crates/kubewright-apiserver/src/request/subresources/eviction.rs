//! `eviction` of Pods: deletes a Pod if its PodDisruptionBudget allows it
//! (k8s.io/kubernetes/pkg/registry/core/pod/storage/eviction.go).

use std::sync::Arc;

use kubewright_core::Operation;
use kubewright_kinds::json::items;
use kubewright_kinds::label_selector;
use kubewright_kinds::policy::{EVICTION, POD_DISRUPTION_BUDGET};
use kubewright_wire::status::{Cause, CauseKind, Status};
use serde_json::{Value, json};

use super::request_object::{created, parse_named};
use crate::request::api::Api;
use crate::request::conditions::{is_condition_true, transition_condition};
use crate::request::deletion::{DeleteOptions, Preconditions};
use crate::request::message::ApiRequest;
use crate::request::options::{DryRun, WriteOptions};
use crate::request::response::ApiResponse;
use crate::request::steps::{Change, Edit, Ownership, Part, Write, admit, attributes};
use crate::request::target::Target;
use crate::request::verbs::delete_evicted;
use crate::resources::builtins;
use crate::store::Object;

const VIOLATION: &str = "Cannot evict pod as it would violate the pod's disruption budget.";
/// How many evicted Pods can wait for the disruption controller.
const MAX_DISRUPTED: usize = 2000;

/// Deletes a Pod if its PodDisruptionBudget allows it.
pub(super) async fn evict(
    api: &Api,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = WriteOptions::parse(&request.query, "CreateOptions")?;
    let name = target.name()?;
    let sent = parse_named(request, name, &EVICTION)?;
    let dry_run = options.dry_run;
    let attributes = attributes(target, request, Operation::Create, dry_run, Some(sent));
    let admitted = admit(api, attributes, &request.warnings).await?;
    let eviction = admitted.expect("an eviction has an object");
    let mut deletion = DeleteOptions::of(&eviction["deleteOptions"])?;
    if dry_run == DryRun::Yes {
        deletion = deletion.with_dry_run();
    }
    let pod = api
        .store
        .get(&target.key(name))
        .ok_or_else(|| target.not_found(name))?;
    if is_unprotected(&pod) {
        if must_not_change(&pod) {
            at_revision(&mut deletion, &pod);
        }
        return finish(api, target, &deletion).await;
    }
    let Some(budget) = budget_of(api, target, &pod)? else {
        return finish(api, target, &deletion).await;
    };
    if is_ready(&pod) {
        take_from_budget(api, target, budget.name(), &deletion).await?;
        return finish(api, target, &deletion).await;
    }
    if allows_unready(&budget) {
        at_revision(&mut deletion, &pod);
    } else {
        take_from_budget(api, target, budget.name(), &deletion).await?;
    }
    finish(api, target, &deletion).await
}

/// Whether a deletion is not a disruption: the Pod does not run, or is being deleted.
fn is_unprotected(pod: &Object) -> bool {
    let phase = pod.value()["status"]["phase"].as_str();
    matches!(phase, Some("Succeeded" | "Failed" | "Pending")) || pod.is_terminating()
}

/// A Pending Pod could become ready before it is deleted.
fn must_not_change(pod: &Object) -> bool {
    pod.value()["status"]["phase"] == "Pending" && !pod.is_terminating()
}

fn at_revision(deletion: &mut DeleteOptions, pod: &Object) {
    let conditions = deletion
        .preconditions
        .get_or_insert_with(Preconditions::default);
    conditions
        .resource_version
        .get_or_insert_with(|| pod.revision().to_string());
}

fn is_ready(pod: &Object) -> bool {
    is_condition_true(pod.value(), "Ready")
}

/// The budget that protects a Pod.
fn budget_of(api: &Api, target: &Target, pod: &Object) -> Result<Option<Arc<Object>>, Status> {
    let namespace = target.namespace.as_deref();
    let budgets = api
        .store
        .list(POD_DISRUPTION_BUDGET.resource_id(), namespace);
    let mut protecting = budgets.into_iter().filter(|budget| {
        let selector = label_selector(&budget.value()["spec"]["selector"]);
        selector.is_some_and(|selector| selector.matches(|key| pod.label(key)))
    });
    let first = protecting.next();
    match protecting.next() {
        None => Ok(first),
        Some(_) => Err(Status::unknown(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does \
             not support.",
        )),
    }
}

/// Whether a budget allows to evict a Pod that is not ready.
fn allows_unready(budget: &Object) -> bool {
    let number = |field: &str| budget.value()["status"][field].as_i64().unwrap_or_default();
    let always = budget.value()["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow";
    let (healthy, desired) = (number("currentHealthy"), number("desiredHealthy"));
    always || healthy >= desired && desired > 0
}

/// Counts the disruption in the status of the budget; an error when none is allowed.
async fn take_from_budget(
    api: &Api,
    target: &Target,
    name: &str,
    options: &DeleteOptions,
) -> Result<(), Status> {
    let (group, plural) = POD_DISRUPTION_BUDGET.as_resource_tuple();
    let Some(served) = builtins().find(group, "v1", plural) else {
        return Ok(());
    };
    let budgets = Target {
        resource: Arc::clone(served),
        namespace: target.namespace.clone(),
        name: Some(name.to_owned()),
    };
    let (pod, now) = (target.name()?, api.timestamp());
    let edit = |budget: &Object| {
        let left = disruptions_left(budget)?;
        let mut value = budget.value().clone();
        value["status"]["disruptionsAllowed"] = json!(left);
        value["status"]["disruptedPods"][pod] = json!(now);
        if left == 0 {
            forbid_disruptions(&mut value, budget.generation(), &now);
        }
        Ok(value)
    };
    let change = Change::Edit(Edit {
        edit: &edit,
        ownership: Ownership::Tracked,
    });
    let write = Write::by_server(api, &budgets, Part::Status, options.dry_run());
    write.run(api, change).await.map(drop)
}

/// How many disruptions a budget allows after this one.
fn disruptions_left(budget: &Object) -> Result<i64, Status> {
    let status = &budget.value()["status"];
    let number = |field: &str| status[field].as_i64().unwrap_or_default();
    let name = budget.name();
    if number("observedGeneration") < budget.generation() {
        let why = format!("The disruption budget {name} is still being processed by the server.");
        return Err(Status::too_many_requests(VIOLATION, 10).with_cause(disruption(why)));
    }
    // Kubernetes names the resource in the singular here.
    let resource = (POD_DISRUPTION_BUDGET.group, "poddisruptionbudget");
    let forbidden = |why: &str| Status::forbidden(resource, name, why);
    let waiting = status["disruptedPods"].as_object();
    match number("disruptionsAllowed") {
        ..0 => Err(forbidden("pdb disruptions allowed is negative")),
        _ if waiting.is_some_and(|pods| pods.len() > MAX_DISRUPTED) => Err(forbidden(
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        )),
        0 => {
            let why = explain(name, status);
            Err(Status::too_many_requests(VIOLATION, 0).with_cause(disruption(why)))
        }
        allowed => Ok(allowed - 1),
    }
}

fn disruption(message: String) -> Cause {
    Cause {
        kind: Some(CauseKind::Other("DisruptionBudget".to_owned())),
        message,
        field: String::new(),
    }
}

/// Why a budget allows no disruption.
fn explain(name: &str, status: &Value) -> String {
    let number = |field: &str| status[field].as_i64().unwrap_or_default();
    let (desired, healthy) = (number("desiredHealthy"), number("currentHealthy"));
    let condition = items(&status["conditions"])
        .filter(|known| known["type"] == "DisruptionAllowed" && known["status"] == "False")
        .map(|known| (known["reason"].as_str(), known["message"].as_str()))
        .find_map(|(reason, message)| Some((reason?, message?)))
        .filter(|(_, message)| !message.is_empty());
    match condition {
        Some(("SyncFailed", message)) => format!(
            "The disruption budget {name} does not allow evicting pods currently because it \
             failed sync: {message}"
        ),
        _ if healthy <= desired => format!(
            "The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"
        ),
        Some((reason, message)) => format!(
            "The disruption budget {name} does not allow evicting pods currently ({reason}): \
             {message}"
        ),
        None => format!("The disruption budget {name} does not allow evicting pods currently"),
    }
}

/// Sets the condition for a budget without allowed disruptions.
fn forbid_disruptions(budget: &mut Value, generation: i64, now: &str) {
    let condition = json!({
        "type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods",
        "message": "", "observedGeneration": generation, "lastTransitionTime": now,
    });
    transition_condition(budget, condition);
}

/// Sets the reason on the Pod and deletes it.
async fn finish(
    api: &Api,
    target: &Target,
    options: &DeleteOptions,
) -> Result<ApiResponse, Status> {
    let mut options = options.clone();
    if options.dry_run() == DryRun::No {
        let pod = mark_evicted(api, target, &options).await?;
        if let Some(preconditions) = &mut options.preconditions
            && let Some(version) = &mut preconditions.resource_version
        {
            *version = pod.revision().to_string();
        }
    }
    delete_evicted(api, target, &options).await?;
    Ok(created())
}

/// Sets the condition with the reason on a Pod. As in Kubernetes, no manager owns it.
async fn mark_evicted(
    api: &Api,
    target: &Target,
    options: &DeleteOptions,
) -> Result<Arc<Object>, Status> {
    let now = api.timestamp();
    let edit = |old: &Object| {
        options.check_preconditions(target.kind(), old)?;
        let mut value = old.value().clone();
        let condition = json!({
            "type": "DisruptionTarget", "status": "True",
            "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
            "lastProbeTime": null, "lastTransitionTime": now,
        });
        transition_condition(&mut value, condition);
        Ok(value)
    };
    let change = Change::Edit(Edit {
        edit: &edit,
        ownership: Ownership::Unchanged,
    });
    let write = Write::by_server(api, target, Part::Whole, DryRun::No);
    Ok(write.run(api, change).await?.object)
}

use std::sync::Arc;

use http::StatusCode;
use kubewright_core::Operation;
use kubewright_wire::status::{Cause, CauseKind, Outcome, Status};
use serde_json::{Value, json};

use super::admit::Admit;
use super::answer::{ApiBody, ApiResponse};
use super::delete::delete_evicted;
use super::delete_options::{DeleteOptions, Preconditions};
use super::execute::ApiRequest;
use super::metadata::Part;
use super::options::WriteOptions;
use super::ownership::Writer;
use super::subresource::parse_named;
use super::target::Target;
use super::update::Write;
use crate::catalog::builtins;
use crate::kinds::label_selector;
use crate::server::Server;
use crate::store::Object;
use crate::who::User;

const REFUSED: &str = "Cannot evict pod as it would violate the pod's disruption budget.";
/// As many evicted Pods may wait for the controller of their budget.
const MOST_DISRUPTED: usize = 2000;

/// Deletes a Pod if its PodDisruptionBudget lets it go
/// (k8s.io/kubernetes/pkg/registry/core/pod/storage/eviction.go).
pub(super) async fn evict(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = WriteOptions::parse(&request.query, "CreateOptions")?;
    let name = target.name()?;
    let eviction = parse_named(request, name, "Eviction")?;
    let admit = Admit::new(server, target, request, options.is_dry_run);
    let eviction = admit.mutate(Operation::Create, eviction, None).await?;
    admit.validate(Operation::Create, &eviction, None).await?;
    let mut how = DeleteOptions::of(&eviction["deleteOptions"])?;
    if options.is_dry_run {
        how = how.dry_run();
    }
    let pod = server
        .store()
        .get(&target.key(name))
        .ok_or_else(|| target.not_found(name))?;
    if is_unguarded(&pod) {
        if must_not_change(&pod) {
            at_revision(&mut how, &pod);
        }
        return finish(server, target, &how).await;
    }
    let Some(budget) = budget_of(server, target, &pod)? else {
        return finish(server, target, &how).await;
    };
    if is_ready(&pod) {
        take_from_budget(server, target, budget.name(), &how).await?;
        return finish(server, target, &how).await;
    }
    if lets_unready_go(&budget) {
        at_revision(&mut how, &pod);
    } else {
        take_from_budget(server, target, budget.name(), &how).await?;
    }
    finish(server, target, &how).await
}

/// A Pod that does not run or goes already is no disruption.
fn is_unguarded(pod: &Object) -> bool {
    let phase = pod.value()["status"]["phase"].as_str();
    matches!(phase, Some("Succeeded" | "Failed" | "Pending")) || pod.is_terminating()
}

/// A Pending Pod could become ready meanwhile.
fn must_not_change(pod: &Object) -> bool {
    pod.value()["status"]["phase"] == "Pending" && !pod.is_terminating()
}

fn at_revision(how: &mut DeleteOptions, pod: &Object) {
    let conditions = how.preconditions.get_or_insert_with(Preconditions::default);
    conditions
        .resource_version
        .get_or_insert_with(|| pod.revision().to_string());
}

fn is_ready(pod: &Object) -> bool {
    let conditions = pod.value()["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|one| one["type"] == "Ready" && one["status"] == "True")
}

/// The one budget that guards a Pod.
fn budget_of(
    server: &Server,
    target: &Target,
    pod: &Object,
) -> Result<Option<Arc<Object>>, Status> {
    let namespace = target.namespace.as_deref();
    let budgets = server
        .store()
        .list("poddisruptionbudgets.policy", namespace);
    let mut guarding = budgets.into_iter().filter(|budget| {
        let selector = label_selector(&budget.value()["spec"]["selector"]);
        selector.is_some_and(|selector| selector.matches(|key| pod.label(key)))
    });
    let first = guarding.next();
    match guarding.next() {
        None => Ok(first),
        Some(_) => Err(Status::unknown(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does \
             not support.",
        )),
    }
}

/// A Pod that is not ready counts for nothing while enough others are.
fn lets_unready_go(budget: &Object) -> bool {
    let number = |field: &str| budget.value()["status"][field].as_i64().unwrap_or_default();
    let always = budget.value()["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow";
    let (healthy, desired) = (number("currentHealthy"), number("desiredHealthy"));
    always || healthy >= desired && desired > 0
}

/// Notes the disruption in the budget's status, or refuses it.
async fn take_from_budget(
    server: &Server,
    target: &Target,
    name: &str,
    how: &DeleteOptions,
) -> Result<(), Status> {
    let Some(served) = builtins().find("policy", "v1", "poddisruptionbudgets") else {
        return Ok(());
    };
    let budgets = Target {
        served: Arc::clone(served),
        namespace: target.namespace.clone(),
        name: Some(name.to_owned()),
    };
    let write = Write {
        target: &budgets,
        admit: Admit::unasked(server, &budgets, how.is_dry_run()),
        writer: Writer {
            user: User::system("system:apiserver"),
            manager: "kube-apiserver".to_owned(),
            subresource: Some("status".to_owned()),
            part: Part::Status,
            now: server.clock().now(),
            versions: Default::default(),
        },
    };
    let (pod, now) = (target.name()?, server.timestamp());
    let changed = write.change(server, name, |budget| {
        let left = disruptions_left(budget)?;
        let mut value = budget.value().clone();
        value["status"]["disruptionsAllowed"] = json!(left);
        value["status"]["disruptedPods"][pod] = json!(now);
        if left == 0 {
            forbid_disruptions(&mut value, budget.generation(), &now);
        }
        Ok(value)
    });
    changed.await.map(drop)
}

/// How many disruptions a budget allows after this one.
fn disruptions_left(budget: &Object) -> Result<i64, Status> {
    let status = &budget.value()["status"];
    let number = |field: &str| status[field].as_i64().unwrap_or_default();
    let name = budget.name();
    if number("observedGeneration") < budget.generation() {
        let why = format!("The disruption budget {name} is still being processed by the server.");
        return Err(Status::too_many_requests(REFUSED, 10).with_cause(disruption(why)));
    }
    let forbidden = |why: &str| Status::forbidden(("policy", "poddisruptionbudget"), name, why);
    let waiting = status["disruptedPods"].as_object();
    match number("disruptionsAllowed") {
        ..0 => Err(forbidden("pdb disruptions allowed is negative")),
        _ if waiting.is_some_and(|pods| pods.len() > MOST_DISRUPTED) => Err(forbidden(
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        )),
        0 => {
            let why = explain(name, status);
            Err(Status::too_many_requests(REFUSED, 0).with_cause(disruption(why)))
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

/// Why a budget allows nothing.
fn explain(name: &str, status: &Value) -> String {
    let number = |field: &str| status[field].as_i64().unwrap_or_default();
    let (desired, healthy) = (number("desiredHealthy"), number("currentHealthy"));
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let condition = conditions
        .filter(|one| one["type"] == "DisruptionAllowed" && one["status"] == "False")
        .map(|one| (one["reason"].as_str(), one["message"].as_str()))
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

/// The condition that says so once the last disruption is spent.
fn forbid_disruptions(budget: &mut Value, generation: i64, now: &str) {
    let condition = json!({
        "type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods",
        "message": "", "observedGeneration": generation, "lastTransitionTime": now,
    });
    put_condition(budget, condition);
}

/// Puts a condition in the place of the one of its type, or behind the others.
fn put_condition(object: &mut Value, condition: Value) {
    let conditions = &mut object["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(conditions) = conditions.as_array_mut() else {
        return;
    };
    match conditions
        .iter_mut()
        .find(|one| one["type"] == condition["type"])
    {
        Some(known) if known["status"] == condition["status"] => {}
        Some(known) => *known = condition,
        None => conditions.push(condition),
    }
}

/// Says on the Pod why it goes, and deletes it.
async fn finish(
    server: &Server,
    target: &Target,
    how: &DeleteOptions,
) -> Result<ApiResponse, Status> {
    let mut how = how.clone();
    if !how.is_dry_run() {
        let write = Write {
            target,
            admit: Admit::unasked(server, target, false),
            writer: Writer {
                user: User::system("system:apiserver"),
                manager: "kube-apiserver".to_owned(),
                subresource: None,
                part: Part::Whole,
                now: server.clock().now(),
                versions: Default::default(),
            },
        };
        let now = server.timestamp();
        // As in Kubernetes, what an eviction writes belongs to nobody.
        let changed = write.change_owned(server, target.name()?, |old| {
            how.check_preconditions(target.kind(), old)?;
            let mut value = old.value().clone();
            let condition = json!({
                "type": "DisruptionTarget", "status": "True",
                "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting",
                "lastProbeTime": null, "lastTransitionTime": now,
            });
            put_condition(&mut value, condition);
            Ok(value)
        });
        let pod = changed.await?;
        if let Some(conditions) = &mut how.preconditions
            && let Some(version) = &mut conditions.resource_version
        {
            *version = pod.revision().to_string();
        }
    }
    delete_evicted(server, target, &how).await?;
    let status = Status {
        status: Some(Outcome::Success),
        code: StatusCode::CREATED.as_u16(),
        ..Status::default()
    };
    let body = ApiBody::Status(Box::new(status));
    Ok(ApiResponse::new(StatusCode::CREATED, body))
}

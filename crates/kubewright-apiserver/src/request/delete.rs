use std::sync::Arc;

use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::admit::Admit;
use super::answer::{ApiBody, ApiResponse};
use super::delete_options::DeleteOptions;
use super::execute::ApiRequest;
use super::list::select_all;
use super::select::Selection;
use super::target::Target;
use super::version;
use crate::crd;
use crate::interrupt;
use crate::kinds::{delete_answers_object, grace_period, is_undeletable};
use crate::seeded::SeededFault;
use crate::server::{Server, timestamp};
use crate::store::{Expected, Object, Race, metadata_mut};

const ATTEMPTS: usize = 64;

/// What became of an object that was to be deleted.
enum Deleted {
    /// It is gone; this was its last state.
    Gone(Arc<Object>),
    /// It is marked, and waits for finalizers or for its time.
    Waits(Arc<Object>),
}

/// What the rules say is to be done with the stored object.
enum Step {
    /// It is stored in this form and waits.
    Mark(Value),
    /// It is stored in this form first, where there is one, and then removed.
    Remove(Option<Value>),
    /// It waits already.
    Nothing,
}

/// Deletes an object, or marks it for deletion.
pub(super) async fn delete(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = DeleteOptions::parse(&request.content, &request.query)?;
    let name = target.name()?;
    refuse_protected(target, name)?;
    let admit = Admit::new(server, target, request, options.is_dry_run());
    let deleted = delete_one(server, &admit, target, name, &options).await?;
    request.warnings.add(orphan_warning(target, &options));
    Ok(match deleted {
        Deleted::Waits(object) => {
            let code = match options.orphan_dependents {
                Some(false) => StatusCode::ACCEPTED,
                _ => StatusCode::OK,
            };
            ApiResponse::object(code, object)
        }
        Deleted::Gone(object) if delete_answers_object(target.kind()) => {
            ApiResponse::object(StatusCode::OK, object)
        }
        Deleted::Gone(object) => {
            let status = Status::deleted(&target.served.resource, name, object.uid());
            ApiResponse::ok(ApiBody::Status(Box::new(status)))
        }
    })
}

/// Deletes every selected object of a collection; answers the list as it was.
pub(super) async fn delete_collection(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = DeleteOptions::parse(&request.content, &request.query)?;
    let selection = Selection::parse(target, &request.query)?;
    let list = select_all(target, &selection, &server.store().snapshot());
    let admit = Admit::new(server, target, request, options.is_dry_run());
    for object in &list.items {
        if interrupt::is_requested() {
            return Err(Status::internal("the request was interrupted"));
        }
        match delete_one(server, &admit, target, object.name(), &options).await {
            Err(status) if status.code == 404 => {}
            other => drop(other?),
        }
    }
    Ok(ApiResponse::ok(ApiBody::List(list)))
}

/// Deletes an object of a custom resource whose definition goes.
pub(crate) fn delete_instance(server: &Server, resource: &str, object: &Object) {
    let Some((plural, group)) = resource.split_once('.') else {
        return;
    };
    let snapshot = server.store().snapshot();
    let customs = server.catalog().customs(&snapshot);
    let served = customs
        .iter()
        .flat_map(|definition| definition.versions())
        .find(|served| served.resource.plural == plural && served.kind().group() == group);
    let Some(served) = served else {
        return;
    };
    let target = Target {
        served: Arc::clone(served),
        namespace: object.namespace().map(str::to_owned),
        name: Some(object.name().to_owned()),
    };
    // As in Kubernetes, nobody is asked: the definition is going whatever a webhook says.
    let options = DeleteOptions::default();
    for _ in 0..ATTEMPTS {
        let Some(old) = server.store().get(&target.key(object.name())) else {
            return;
        };
        let step = step(server, &target, &old, &options);
        if delete_step(server, &target, &old, (step, &options)).is_ok() {
            return;
        }
    }
    tracing::debug!(
        object = object.name(),
        "an object of a going definition keeps changing"
    );
}

/// Deletes a Pod that is evicted.
pub(super) async fn delete_evicted(
    server: &Server,
    target: &Target,
    options: &DeleteOptions,
) -> Result<(), Status> {
    let admit = Admit::unasked(server, target, options.is_dry_run());
    let deleted = delete_one(server, &admit, target, target.name()?, options);
    deleted.await.map(drop)
}

fn refuse_protected(target: &Target, name: &str) -> Result<(), Status> {
    if target.served.is("", "Namespace") && is_undeletable(name) {
        let why = "this namespace may not be deleted";
        return Err(Status::forbidden(&target.served.resource, name, why));
    }
    Ok(())
}

fn orphan_warning(target: &Target, options: &DeleteOptions) -> Vec<String> {
    let silent = options.propagation_policy.is_none() && options.orphan_dependents.is_none();
    match silent && target.served.is("batch", "Job") {
        true => vec![
            "child pods are preserved by default when jobs are deleted; set \
             propagationPolicy=Background to remove them or set propagationPolicy=Orphan to \
             suppress this warning"
                .to_owned(),
        ],
        false => Vec::new(),
    }
}

async fn delete_one(
    server: &Server,
    admit: &Admit<'_>,
    target: &Target,
    name: &str,
    options: &DeleteOptions,
) -> Result<Deleted, Status> {
    for _ in 0..ATTEMPTS {
        let old = server
            .store()
            .get(&target.key(name))
            .ok_or_else(|| target.not_found(name))?;
        if !server.has(SeededFault::UidIsIgnored) {
            options.check_preconditions(target.kind(), &old)?;
        }
        let step = step(server, target, &old, options);
        if !matches!(step, Step::Nothing) {
            let shown = version::in_request(server, target, Arc::clone(&old)).await?;
            admit.delete(&shown).await?;
        }
        if let Ok(deleted) = delete_step(server, target, &old, (step, options)) {
            return Ok(deleted);
        }
    }
    Err(Status::conflict(&target.served.resource, name))
}

/// Does what the rules say, unless the object has changed in between.
fn delete_step(
    server: &Server,
    target: &Target,
    old: &Arc<Object>,
    (step, options): (Step, &DeleteOptions),
) -> Result<Deleted, Race> {
    let deleted = take(server, target, old, step, options.is_dry_run())?;
    if let Deleted::Waits(object) = &deleted
        && target
            .served
            .is("apiextensions.k8s.io", "CustomResourceDefinition")
    {
        crd::clean_up(server, object.name());
    }
    Ok(deleted)
}

/// The rules of deletion, in the order of `Store.Delete` of k8s.io/apiserver.
fn step(server: &Server, target: &Target, old: &Object, options: &DeleteOptions) -> Step {
    let now = server.clock().now();
    let finalizers = options.finalizers(target.kind(), old);
    if target.served.is("", "Namespace") {
        return namespace_step(old, finalizers, now);
    }
    if target
        .served
        .is("apiextensions.k8s.io", "CustomResourceDefinition")
        && !old.is_terminating()
    {
        return Step::Mark(crd::terminating(old, &timestamp(now)));
    }
    let mut value = old.value().clone();
    if target.served.is("", "Pod") {
        match pod_grace(old, options, now) {
            Grace::Pending => return Step::Nothing,
            Grace::Set(end, seconds) => {
                mark(&mut value, old, end, seconds);
                set_finalizers(&mut value, &finalizers);
                return match seconds > 0 || !finalizers.is_empty() {
                    true => Step::Mark(value),
                    false => Step::Remove(Some(value)),
                };
            }
            Grace::Over => {}
        }
    }
    if finalizers.is_empty() {
        return Step::Remove(None);
    }
    let since = old.deletion_timestamp().filter(|time| *time <= now);
    mark(&mut value, old, since.unwrap_or(now), 0);
    set_finalizers(&mut value, &finalizers);
    Step::Mark(value)
}

/// A Namespace first ends its life, then waits for what lives in it.
fn namespace_step(old: &Object, finalizers: Vec<String>, now: Timestamp) -> Step {
    let waits = old
        .value()
        .pointer("/spec/finalizers")
        .and_then(Value::as_array)
        .is_some_and(|names| !names.is_empty());
    let mut value = old.value().clone();
    if !old.is_terminating() {
        metadata_mut(&mut value).insert("deletionTimestamp".to_owned(), json!(timestamp(now)));
        value["status"]["phase"] = json!("Terminating");
        set_finalizers(&mut value, &finalizers);
        return Step::Mark(value);
    }
    if waits {
        return Step::Nothing;
    }
    match finalizers.is_empty() {
        true => Step::Remove(None),
        false => {
            set_finalizers(&mut value, &finalizers);
            Step::Mark(value)
        }
    }
}

enum Grace {
    /// A longer or equal period runs already.
    Pending,
    /// A period begins or is shortened: when it ends, and its length.
    Set(Timestamp, i64),
    /// It has run out.
    Over,
}

/// `BeforeDelete` of k8s.io/apiserver/pkg/registry/rest/delete.go.
fn pod_grace(old: &Object, options: &DeleteOptions, now: Timestamp) -> Grace {
    let asked = options
        .grace_period_seconds
        .map(|seconds| if seconds < 0 { 1 } else { seconds });
    let Some(end) = old.deletion_timestamp() else {
        let seconds = grace_period(old, asked);
        return Grace::Set(later(now, seconds), seconds);
    };
    let running = old
        .metadata("deletionGracePeriodSeconds")
        .and_then(Value::as_i64)
        .unwrap_or(0);
    match asked {
        _ if running == 0 => Grace::Over,
        None => Grace::Pending,
        Some(seconds) if seconds >= running => Grace::Pending,
        Some(seconds) => {
            let sooner = later(end, seconds.saturating_sub(running));
            match sooner < now {
                false => Grace::Set(sooner, seconds),
                true => Grace::Set(now, seconds.min(1)),
            }
        }
    }
}

/// As far as time reaches: clients choose the seconds.
fn later(time: Timestamp, seconds: i64) -> Timestamp {
    time.checked_add(SignedDuration::from_secs(seconds))
        .unwrap_or(if seconds < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        })
}

fn mark(value: &mut Value, old: &Object, end: Timestamp, seconds: i64) {
    let generation = old.generation();
    let metadata = metadata_mut(value);
    if !old.is_terminating() && generation > 0 {
        metadata.insert("generation".to_owned(), json!(generation + 1));
    }
    metadata.insert("deletionTimestamp".to_owned(), json!(timestamp(end)));
    metadata.insert("deletionGracePeriodSeconds".to_owned(), json!(seconds));
}

fn set_finalizers(value: &mut Value, finalizers: &[String]) {
    let metadata = metadata_mut(value);
    match finalizers.is_empty() {
        true => metadata.remove("finalizers"),
        false => metadata.insert("finalizers".to_owned(), json!(finalizers)),
    };
}

fn take(
    server: &Server,
    target: &Target,
    old: &Arc<Object>,
    step: Step,
    is_dry_run: bool,
) -> Result<Deleted, Race> {
    let key = target.key(old.name());
    let store = server.store();
    if is_dry_run {
        let shown = |value: Value| Arc::new(Object::new(value, old.revision()));
        return Ok(match step {
            Step::Nothing => Deleted::Waits(Arc::clone(old)),
            Step::Mark(value) => Deleted::Waits(shown(value)),
            Step::Remove(value) => Deleted::Gone(value.map_or_else(|| Arc::clone(old), shown)),
        });
    }
    match step {
        Step::Nothing => Ok(Deleted::Waits(Arc::clone(old))),
        Step::Mark(value) => {
            let marked = store.put(key, Expected::At(old.revision()), value)?;
            Ok(Deleted::Waits(marked))
        }
        Step::Remove(value) => {
            let mut last = Arc::clone(old);
            if let Some(value) = value {
                last = store.put(key.clone(), Expected::At(old.revision()), value)?;
            }
            let gone = store.remove(key, last.revision())?;
            crd::instance_gone(server, &target.served.id);
            Ok(Deleted::Gone(gone))
        }
    }
}

use std::sync::Arc;

use http::StatusCode;
use kubewright_core::Operation;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::admit::Admit;
use super::answer::{ApiBody, ApiResponse};
use super::execute::ApiRequest;
use super::metadata::{Part, accept_namespace, accept_new, generate_name, prepare_create};
use super::options::WriteOptions;
use super::ownership::{Writer, track};
use super::target::Target;
use super::{admission, commit, decode, validate, version};
use crate::admission::configuration_refusal;
use crate::crd;
use crate::kinds::{allocate_address, fill_in, notices, refusal};
use crate::may::Review;
use crate::server::Server;
use crate::store::{NotStored, Object, metadata_mut};

/// How often a generated name is tried anew when it is taken.
const GENERATED_NAMES: usize = 8;

/// Makes an object of what was sent.
pub(super) async fn create(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let options = WriteOptions::parse(&request.query, "CreateOptions")?;
    let validation = options.field_validation;
    let decoded = decode::object(target, &request.content, target.kind(), validation)?;
    request.warnings.add(decoded.warnings);
    let writer = Writer {
        user: request.user.clone(),
        manager: options.manager(&request.user_agent),
        subresource: None,
        part: Part::Main,
        now: server.clock().now(),
        versions: Arc::default(),
    };
    if let Some(review) = Review::of(target.kind().group(), &target.served.resource.plural) {
        let sent = track(target, None, decoded.value, &writer);
        let namespace = target.namespace.as_deref();
        let now = server.clock().now();
        let access = server.access();
        let answer = access.review(review, &request.user, namespace, (sent, now))?;
        let answer = server.reviewed(review, &request.user, answer).await;
        return Ok(ApiResponse::new(
            StatusCode::CREATED,
            ApiBody::Value(answer),
        ));
    }
    let mut value = decoded.value;
    accept_new(target, &mut value)?;
    request
        .warnings
        .add(admission::drop_duplicate_owners(&mut value));
    let value = track(target, None, value, &writer);
    admission::may_grant(server, target, &request.user, None, &value)?;
    let admit = Admit::new(server, target, request, options.is_dry_run);
    let object = store_new(server, target, value, &admit).await?;
    request.warnings.add(write_notices(target));
    Ok(ApiResponse::object(StatusCode::CREATED, object))
}

/// The steps after the fields have their owners, shared with an apply and a PUT that create.
pub(super) async fn store_new(
    server: &Server,
    target: &Target,
    mut value: Value,
    admit: &Admit<'_>,
) -> Result<Arc<Object>, Status> {
    if !is_unset(&value["metadata"]["resourceVersion"]) {
        return Err(Status::unknown(
            "resourceVersion should not be set on objects to be created",
        ));
    }
    let has_name = !is_unset(&value["metadata"]["name"]);
    let name = value["metadata"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let name = name.as_str();
    let is_custom = target.served.custom().is_some();
    if let Some(why) = refusal(target.kind()).filter(|_| !is_custom) {
        return Err(Status::not_implemented(why));
    }
    admission::admit_create(server, target, name)?;
    admission::mutate(server, target, None, &mut value)?;
    let mut value = admit.mutate(Operation::Create, value, None).await?;
    accept_namespace(target, metadata_mut(&mut value))?;
    configuration_refusal(target.kind(), &value)?;
    let mut admitted_by = admission::admit_create(server, target, name)?;
    prepare_create(server, target, &mut value);
    if target.served.is("", "Service") {
        let others = server.store().list("services", None);
        allocate_address(&mut value, &others, server.random().next())
            .map_err(|causes| Status::invalid(target.kind(), name, causes))?;
    }
    let mut kept = value;
    // What may have to be made into another object again is kept as it is.
    let is_kept = is_custom || !has_name;
    let mut taken = 0;
    while taken < GENERATED_NAMES {
        let mut value = match is_kept {
            true => kept.clone(),
            false => std::mem::take(&mut kept),
        };
        generate_name(server, &mut value);
        if target.served.is("", "Namespace") {
            // The label follows from the name, which may have been made just now.
            fill_in(target.kind(), &mut value);
        }
        admit.warn(validate::create(target, &value)?);
        if target
            .served
            .is("apiextensions.k8s.io", "CustomResourceDefinition")
        {
            crd::accept(server, &mut value, None)?;
        }
        let checked = (&value, admit.is_dry_run());
        admission::validate(server, target, None, checked)?;
        admit.validate(Operation::Create, &value, None).await?;
        admission::charge(server, target, None, checked)?;
        let value = version::to_stored(server, target, value).await?;
        commit::check_depth(&value)?;
        match commit::create(server, target, value, &admitted_by, admit.is_dry_run()) {
            Ok(object) => return Ok(object),
            Err(NotStored::Taken(current)) if has_name => {
                return Err(already_exists(target, name, Some(current)));
            }
            Err(NotStored::Taken(_)) => taken += 1,
            // Its namespace or definition changed meanwhile: asked again.
            Err(NotStored::Moved(value)) => {
                if !is_kept {
                    kept = value;
                }
                admitted_by = admission::admit_create(server, target, name)?;
            }
        }
    }
    let base = kept["metadata"]["generateName"].as_str();
    Err(already_exists(target, base.unwrap_or_default(), None))
}

/// What a client is told with each write of a kind.
pub(super) fn write_notices(target: &Target) -> Vec<String> {
    match target.served.custom() {
        Some(_) => Vec::new(),
        None => notices(target.kind()),
    }
}

fn already_exists(target: &Target, name: &str, current: Option<Arc<Object>>) -> Status {
    let mut status = Status::already_exists(&target.served.resource, name);
    if current.is_some_and(|object| object.is_terminating()) {
        status.message = format!("object is being deleted: {}", status.message);
    }
    status
}

fn is_unset(value: &Value) -> bool {
    value.as_str().unwrap_or_default().is_empty()
}

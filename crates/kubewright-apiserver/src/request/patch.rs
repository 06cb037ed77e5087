use http::StatusCode;
use kubewright_core::Kind;
use kubewright_wire::apply::Force;
use kubewright_wire::patch::{StrategicPatchError, merge, printed, strategic_merge};
use kubewright_wire::schema::Schema;
use kubewright_wire::status::{Cause, Reason, Status};
use serde_json::{Map, Value};

use super::admit::Admit;
use super::answer::ApiResponse;
use super::create::{store_new, write_notices};
use super::execute::{ApiRequest, Content, PatchKind};
use super::json::go_type;
use super::json_patch::{JsonPatchError, json_patch};
use super::metadata::{Part, accept_namespace, accept_new, check_name};
use super::options::WriteOptions;
use super::ownership::merge as merge_applied;
use super::target::Target;
use super::update::{ATTEMPTS, Write, may_create, writer};
use super::{admission, decode};
use crate::seeded::SeededFault;
use crate::server::Server;
use crate::store::{Object, metadata_mut};

/// Changes a part of an object.
pub(super) async fn patch(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    patch_part(server, target, request, Part::Main).await
}

/// The same for the status or another part.
pub(super) async fn patch_part(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
    part: Part,
) -> Result<ApiResponse, Status> {
    let options = WriteOptions::parse(&request.query, "PatchOptions")?;
    let kind = request.patch.ok_or_else(Status::unsupported_patch_type)?;
    check_options(kind, &options)?;
    let is_custom = target.served.custom().is_some();
    match kind {
        PatchKind::Apply => apply_part(server, target, request, (part, &options)).await,
        PatchKind::StrategicMerge if is_custom => Err(Status::failure(
            415,
            Some(Reason::UnsupportedMediaType),
            "the body of the request was in an unknown format - accepted media types include: \
             application/json-patch+json, application/merge-patch+json, \
             application/apply-patch+yaml",
        )),
        PatchKind::Json | PatchKind::Merge | PatchKind::StrategicMerge => {
            change(server, target, request, (part, &options), kind).await
        }
    }
}

/// `ValidatePatchOptions` of k8s.io/apimachinery.
pub(super) fn check_options(kind: PatchKind, options: &WriteOptions) -> Result<(), Status> {
    let mut causes = Vec::new();
    match kind {
        PatchKind::Apply if options.field_manager.is_none() => {
            causes.push(Cause::required(
                "fieldManager",
                "is required for apply patch",
            ));
        }
        PatchKind::Apply => {}
        _ if options.force.is_some() => {
            let detail = "may not be specified for non-apply patch";
            causes.push(Cause::forbidden("force", detail));
        }
        _ => {}
    }
    match causes.is_empty() {
        true => Ok(()),
        false => Err(Status::invalid_as(
            "meta.k8s.io",
            "PatchOptions",
            "",
            causes,
        )),
    }
}

async fn change(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
    (part, options): (Part, &WriteOptions),
    kind: PatchKind,
) -> Result<ApiResponse, Status> {
    let name = target.name()?;
    let patch = read_patch(&request.content, kind)?;
    let write = Write {
        target,
        admit: Admit::new(server, target, request, options.is_dry_run),
        writer: writer(server, request, options, part),
    };
    let changed = write.change(server, name, |old| {
        let (value, found) = patched(target, old, kind, &patch, options)?;
        request.warnings.add(found);
        Ok(value)
    });
    let object = changed.await?;
    request.warnings.add(write_notices(target));
    Ok(ApiResponse::object(StatusCode::OK, object))
}

/// The patch in a body, of the form that its kind has.
pub(super) fn read_patch(content: &Content, kind: PatchKind) -> Result<Value, Status> {
    let refuse = |why: String| match kind {
        PatchKind::StrategicMerge => Status::bad_request(why),
        _ => Status::bad_request(format!("error decoding patch: {why}")),
    };
    let patch = decode::parse(content).map_err(refuse)?;
    let wanted = match kind {
        PatchKind::Json if !patch.is_array() => "[]handlers.jsonPatchOp",
        PatchKind::Merge | PatchKind::StrategicMerge if !patch.is_object() => {
            "map[string]interface {}"
        }
        _ => return Ok(patch),
    };
    let sent = go_type(&patch);
    Err(refuse(format!(
        "json: cannot unmarshal {sent} into Go value of type {wanted}"
    )))
}

/// The stored object with the patch, made to conform to its kind again.
fn patched(
    target: &Target,
    old: &Object,
    kind: PatchKind,
    patch: &Value,
    options: &WriteOptions,
) -> Result<(Value, Vec<String>), Status> {
    // The revision stays: one that the patch puts in its place is a condition.
    let mut value = old.value().clone();
    value["apiVersion"] = Value::String(target.kind().api_version());
    patch_value(&mut value, target.kind(), kind, patch)?;
    let metadata = metadata_mut(&mut value);
    accept_namespace(target, metadata)?;
    check_name(metadata, old.name())?;
    decode::check_patched_kind(target, &mut value)?;
    let mut warnings = admission::drop_duplicate_owners(&mut value);
    let shown = match kind {
        PatchKind::StrategicMerge => printed(patch),
        _ => value.to_string(),
    };
    let unknown = conform_patched(target, &mut value, &shown)?;
    let validation = options.field_validation;
    let found = decode::report(target.kind(), validation, unknown, Vec::new());
    warnings.extend(found.map_err(|status| refuse_strictly(status, shown))?);
    Ok((value, warnings))
}

/// A strict patch with what its kind does not have is told with its result.
fn refuse_strictly(status: Status, shown: String) -> Status {
    const STRICT: &str = "strict decoding error: ";
    match status.message.split_once(STRICT) {
        Some((_, fields)) => decode::invalid_patch(shown, &format!("{STRICT}{fields}")),
        None => status,
    }
}

fn conform_patched(target: &Target, value: &mut Value, shown: &str) -> Result<Vec<String>, Status> {
    if target.served.custom().is_some() {
        return decode::conform(target, value, target.kind());
    }
    decode::builtin(value, target.kind())
        .map_err(|error| decode::invalid_patch(shown.to_owned(), &error.to_string()))
}

fn refuse_json_patch(error: JsonPatchError) -> Status {
    match error {
        JsonPatchError::Malformed(message) => Status::bad_request(message),
        JsonPatchError::TooMany(count) => Status::failure(
            413,
            Some(Reason::RequestEntityTooLarge),
            format!(
                "Request entity too large: The allowed maximum operations in a JSON patch is \
                 10000, got {count}"
            ),
        ),
        JsonPatchError::Missing(_) | JsonPatchError::TestFailed(_) | JsonPatchError::Failed(_) => {
            rejected()
        }
    }
}

/// What the server says where it keeps the reason to itself.
fn rejected() -> Status {
    let message = "the server rejected our request due to an error in our request";
    let mut status = Status::failure(422, Some(Reason::Invalid), message);
    status.details = Some(Box::default());
    status
}

/// Carries out a patch that was read, on a value of the given kind.
pub(super) fn patch_value(
    value: &mut Value,
    of: &Kind,
    kind: PatchKind,
    patch: &Value,
) -> Result<(), Status> {
    match kind {
        PatchKind::Json => json_patch(value, patch).map_err(refuse_json_patch),
        PatchKind::StrategicMerge => {
            let schema = Schema::builtin().kind(of);
            let schema = schema.unwrap_or_else(|| Schema::builtin().untyped());
            let patch = patch.as_object().cloned().unwrap_or_default();
            strategic_merge(value, patch, schema).map_err(refuse_strategic_patch)
        }
        PatchKind::Merge | PatchKind::Apply => {
            merge(value, patch);
            Ok(())
        }
    }
}

/// `interpretStrategicMergePatchError` of k8s.io/apiserver.
fn refuse_strategic_patch(error: StrategicPatchError) -> Status {
    match error {
        StrategicPatchError::ListOfLists => rejected(),
        StrategicPatchError::Mismatch(message) => Status::unknown(message),
        malformed => Status::bad_request(malformed.to_string()),
    }
}

/// Server-side apply: what is sent becomes what its manager wants, no more and no less.
async fn apply_part(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
    (part, options): (Part, &WriteOptions),
) -> Result<ApiResponse, Status> {
    let name = target.name()?;
    let applied = intent(&request.content)?;
    check_name(applied["metadata"].as_object().unwrap_or(&Map::new()), name)?;
    accept_namespace(target, metadata_mut(&mut applied.clone()))?;
    let writer = writer(server, request, options, part);
    let force = match options.force {
        Some(true) => Force::Yes,
        _ => Force::No,
    };
    let write = Write {
        target,
        admit: Admit::new(server, target, request, options.is_dry_run),
        writer,
    };
    // Others may create or delete it meanwhile: then it is looked at again.
    for _ in 0..ATTEMPTS {
        let is_there = || server.store().get(&target.key(name)).is_some();
        match is_there() {
            false => match create_applied(server, request, &write, &applied, force).await {
                Err(Status {
                    reason: Some(Reason::AlreadyExists),
                    ..
                }) if is_there() => {}
                other => return other,
            },
            true => match update_applied(server, &write, &applied, force).await {
                Err(Status {
                    reason: Some(Reason::NotFound),
                    ..
                }) if !is_there() => {}
                other => return other,
            },
        }
    }
    Err(Status::conflict(&target.served.resource, name))
}

async fn create_applied(
    server: &Server,
    request: &ApiRequest,
    write: &Write<'_>,
    applied: &Value,
    force: Force,
) -> Result<ApiResponse, Status> {
    let target = write.target;
    if write.writer.part != Part::Main {
        return Err(target.not_found(target.name()?));
    }
    may_create(server, target, request).await?;
    refuse_uid(target, applied)?;
    let mut value = merge_applied(target, None, applied, &write.writer, force)?;
    decode::conform_applied(target, &mut value)?;
    metadata_mut(&mut value).remove("resourceVersion");
    accept_new(target, &mut value)?;
    admission::may_grant(server, target, &write.writer.user, None, &value)?;
    let object = store_new(server, target, value, &write.admit).await?;
    write.admit.warn(write_notices(target));
    Ok(ApiResponse::object(StatusCode::CREATED, object))
}

async fn update_applied(
    server: &Server,
    write: &Write<'_>,
    applied: &Value,
    force: Force,
) -> Result<ApiResponse, Status> {
    let target = write.target;
    let changed = write.change_owned(server, target.name()?, |old| {
        let mut value = merge_applied(target, Some(old), applied, &write.writer, force)?;
        if server.has(SeededFault::ApplyKeepsDropped) {
            let applied = std::mem::replace(&mut value, old.value().clone());
            merge(&mut value, &applied);
        }
        decode::conform_applied(target, &mut value)?;
        Ok(value)
    });
    let object = changed.await?;
    write.admit.warn(write_notices(target));
    Ok(ApiResponse::object(StatusCode::OK, object))
}

/// The configuration in a body, which is YAML.
fn intent(content: &Content) -> Result<Value, Status> {
    let value = match content {
        Content::Empty => Value::Null,
        content => decode::parse(content).map_err(|error| {
            let what = "error decoding YAML: error converting YAML to JSON";
            Status::bad_request(format!("{what}: {error}"))
        })?,
    };
    match value {
        Value::Object(_) => Ok(value),
        Value::Null => Ok(Value::Object(Map::new())),
        other => Err(Status::bad_request(format!(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot \
             unmarshal {} into Go value of type map[string]interface {{}}",
            go_type(&other)
        ))),
    }
}

fn refuse_uid(target: &Target, applied: &Value) -> Result<(), Status> {
    let uid = applied["metadata"]["uid"].as_str().unwrap_or_default();
    if uid.is_empty() {
        return Ok(());
    }
    let why = format!(
        "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
    );
    let name = applied["metadata"]["name"].as_str().unwrap_or_default();
    Err(Status::conflict_because(
        &target.served.resource,
        name,
        &why,
    ))
}

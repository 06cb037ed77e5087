//! Patches: JSON patch, merge patch, strategic merge patch, and the configuration of an apply.

use std::collections::BTreeSet;

use kubewright_core::Kind;
use kubewright_kinds::json::text;
use kubewright_wire::json::go_type;
use kubewright_wire::patch::{
    JsonPatchError, StrategicPatchError, go_display, json_patch, merge, strategic_merge,
};
use kubewright_wire::schema::Schema;
use kubewright_wire::status::{Cause, Reason, Status};
use serde_json::{Map, Value};

use super::sent_metadata::{accept_namespace, check_name};
use crate::request::codec::decode;
use crate::request::message::{Content, PatchKind};
use crate::request::options::WriteOptions;
use crate::request::target::Target;
use crate::resources::conform_builtin;
use crate::store::{Object, metadata_mut};

/// Checks the parameters of a patch (`ValidatePatchOptions` of k8s.io/apimachinery).
pub(crate) fn check_options(kind: PatchKind, options: &WriteOptions) -> Result<(), Status> {
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
    if causes.is_empty() {
        return Ok(());
    }
    Err(Status::invalid_as(
        "meta.k8s.io",
        "PatchOptions",
        "",
        causes,
    ))
}

/// Parses the patch in a body.
pub(crate) fn parse_patch(content: &Content, kind: PatchKind) -> Result<Value, Status> {
    let malformed = |why: String| match kind {
        PatchKind::StrategicMerge => Status::bad_request(why),
        _ => Status::bad_request(format!("error decoding patch: {why}")),
    };
    let patch = decode::parse(content).map_err(malformed)?;
    let wanted = match kind {
        PatchKind::Json if !patch.is_array() => "[]handlers.jsonPatchOp",
        PatchKind::Merge | PatchKind::StrategicMerge if !patch.is_object() => {
            "map[string]interface {}"
        }
        _ => return Ok(patch),
    };
    let sent = go_type(&patch);
    Err(malformed(format!(
        "json: cannot unmarshal {sent} into Go value of type {wanted}"
    )))
}

/// Applies a patch to the stored object. Returns the result, which conforms to its kind, and
/// warnings.
pub(super) fn patched(
    target: &Target,
    old: &Object,
    kind: PatchKind,
    patch: &Value,
    options: &WriteOptions,
) -> Result<(Value, Vec<String>), Status> {
    // The revision stays: another one from the patch is a precondition.
    let mut value = old.value().clone();
    value["apiVersion"] = Value::String(target.kind().api_version());
    patch_value(&mut value, target.kind(), kind, patch)?;
    let metadata = metadata_mut(&mut value);
    accept_namespace(target, metadata)?;
    check_name(metadata, old.name())?;
    decode::check_patched_kind(target, &mut value)?;
    let mut warnings = drop_duplicate_owners(&mut value);
    let shown = match kind {
        PatchKind::StrategicMerge => go_display(patch),
        _ => value.to_string(),
    };
    let unknown = conform_patched(target, &mut value, &shown)?;
    let validation = options.field_validation;
    let found = decode::report(target.kind(), validation, unknown, Vec::new());
    warnings.extend(found.map_err(|status| strict_error(status, shown))?);
    Ok((value, warnings))
}

/// The error of a strict patch with unknown fields, which shows the result.
fn strict_error(status: Status, shown: String) -> Status {
    const STRICT: &str = "strict decoding error: ";
    match status.message.split_once(STRICT) {
        Some((_, fields)) => decode::invalid_patch(shown, &format!("{STRICT}{fields}")),
        None => status,
    }
}

fn conform_patched(target: &Target, value: &mut Value, shown: &str) -> Result<Vec<String>, Status> {
    if target.resource.custom().is_some() {
        return target.resource.conform(value, target.kind());
    }
    conform_builtin(value, target.kind())
        .map_err(|error| decode::invalid_patch(shown.to_owned(), &error.to_string()))
}

fn json_patch_error(error: JsonPatchError) -> Status {
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

/// The error without a reason.
fn rejected() -> Status {
    let message = "the server rejected our request due to an error in our request";
    let mut status = Status::failure(422, Some(Reason::Invalid), message);
    status.details = Some(Box::default());
    status
}

/// Applies a patch to a value of the given kind.
pub(crate) fn patch_value(
    value: &mut Value,
    of: &Kind,
    kind: PatchKind,
    patch: &Value,
) -> Result<(), Status> {
    match kind {
        PatchKind::Json => json_patch(value, patch).map_err(json_patch_error),
        PatchKind::StrategicMerge => {
            let schema = Schema::builtin()
                .kind(of)
                .unwrap_or_else(|| Schema::builtin().untyped());
            let patch = patch.as_object().cloned().unwrap_or_default();
            strategic_merge(value, patch, schema).map_err(strategic_patch_error)
        }
        PatchKind::Merge | PatchKind::Apply => {
            merge(value, patch);
            Ok(())
        }
    }
}

/// `interpretStrategicMergePatchError` of k8s.io/apiserver.
fn strategic_patch_error(error: StrategicPatchError) -> Status {
    match error {
        StrategicPatchError::ListOfLists => rejected(),
        StrategicPatchError::Mismatch(message) => Status::unknown(message),
        malformed => Status::bad_request(malformed.to_string()),
    }
}

/// Parses the configuration of an apply, which is YAML.
pub(super) fn parse_configuration(content: &Content) -> Result<Value, Status> {
    let value = match content {
        Content::Empty => Value::Null,
        content => decode::parse(content).map_err(|error| {
            Status::bad_request(format!(
                "error decoding YAML: error converting YAML to JSON: {error}"
            ))
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

/// Checks that a configuration that creates an object has no uid.
pub(super) fn check_absent_uid(target: &Target, applied: &Value) -> Result<(), Status> {
    let uid = text(&applied["metadata"]["uid"]);
    if uid.is_empty() {
        return Ok(());
    }
    let why = format!(
        "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
    );
    let name = text(&applied["metadata"]["name"]);
    Err(Status::conflict_because(
        &target.resource.resource,
        name,
        &why,
    ))
}

/// Drops duplicate owner references. Returns a warning about them.
pub(super) fn drop_duplicate_owners(value: &mut Value) -> Vec<String> {
    let metadata = metadata_mut(value);
    let Some(owners) = metadata
        .get_mut("ownerReferences")
        .and_then(Value::as_array_mut)
    else {
        return Vec::new();
    };
    let mut seen = BTreeSet::new();
    let mut duplicates = BTreeSet::new();
    owners.retain(|owner| {
        let is_first = seen.insert(owner.to_string());
        if !is_first {
            duplicates.insert(text(&owner["uid"]).to_owned());
        }
        is_first
    });
    if duplicates.is_empty() {
        return Vec::new();
    }
    let uids: Vec<String> = duplicates.into_iter().collect();
    vec![format!(
        ".metadata.ownerReferences contains duplicate entries; API server dedups owner references \
         in 1.20+, and may reject such requests as early as 1.24; please fix your requests; \
         duplicate UID(s) observed: {}",
        uids.join(", ")
    )]
}

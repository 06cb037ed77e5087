//! `scale`: the replicas of an object.

use std::sync::Arc;

use http::StatusCode;
use kubewright_core::{Kind, Operation};
use kubewright_kinds::autoscaling::SCALE;
use kubewright_kinds::custom::ScalePaths;
use kubewright_kinds::json::text;
use kubewright_wire::status::{Cause, Status};
use serde_json::{Value, json};

use crate::request::api::Api;
use crate::request::codec::decode;
use crate::request::message::{ApiRequest, PatchKind};
use crate::request::options::WriteOptions;
use crate::request::response::{ApiBody, ApiResponse};
use crate::request::steps::{
    Admission, Change, Current, Edit, MAX_ATTEMPTS, Ownership, Part, Write, attributes, check_name,
    check_options, mutate, parse_patch, patch_value, version,
};
use crate::request::target::Target;
use crate::resources::conform_builtin;
use crate::store::{Object, metadata_mut};

/// The replicas of a custom resource that has none. No patch sets this number.
const UNSET: i64 = -2_147_483_648;

fn kind() -> Kind {
    SCALE.in_version("v1")
}

/// The paths of a custom resource; none for built-in kinds.
fn custom_paths(target: &Target) -> Option<&ScalePaths> {
    target.resource.custom()?.scale.as_ref()
}

/// Reads the scale of an object.
pub(super) async fn get(api: &Api, target: &Target) -> Result<ApiResponse, Status> {
    let name = target.name()?;
    let stored = api
        .store
        .get(&target.key(name))
        .ok_or_else(|| target.not_found(name))?;
    let object = version::in_request(api, target, stored).await?;
    if let Some(paths) = custom_paths(target)
        && object.value().pointer(&paths.wanted).is_none()
    {
        return Err(Status::internal(format!(
            "the spec replicas field {:?} does not exist",
            paths.declared
        )));
    }
    Ok(ApiResponse::ok(ApiBody::Value(scale_of(
        target,
        object.value(),
    ))))
}

/// Changes the replicas of an object, by an update or a patch of its scale.
pub(super) async fn write(
    api: &Api,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let change = ScaleChange::read(request)?;
    let write = Write::new(api, target, request, &change.options, Part::Main)
        .admission(Admission::View(request, scale_of));
    for _ in 0..MAX_ATTEMPTS {
        let current = write.current(api).await?;
        let Current::Existing { old, .. } = &current else {
            return Err(target.not_found(target.name()?));
        };
        let dry_run = change.options.dry_run;
        let sent = Some(change.of(target, old)?);
        let mut attributes = attributes(target, request, Operation::Update, dry_run, sent);
        let before = scale_of(target, old.value());
        attributes.old = Some(Arc::new(Object::new(before, old.revision())));
        let mutated = mutate(api, attributes, &request.warnings).await?;
        let scale = mutated.object.expect("a scale has an object");
        let edit = |old: &Object| scaled(target, old, &scale);
        let mut edit = Change::Edit(Edit {
            edit: &edit,
            ownership: Ownership::TrackedWithoutTime,
        });
        if let Some(written) = write.attempt(api, &current, &mut edit).await? {
            let object = version::in_request(api, target, written.object).await?;
            let scale = ApiBody::Value(scale_of(target, object.value()));
            return Ok(ApiResponse::new(StatusCode::OK, scale));
        }
    }
    Err(Status::conflict(&target.resource.resource, target.name()?))
}

/// The object with the replicas of the scale.
fn scaled(target: &Target, old: &Object, scale: &Value) -> Result<Value, Status> {
    check(target, old, scale)?;
    let mut value = old.value().clone();
    set_replicas(target, &mut value, scale)?;
    let version = scale["metadata"]["resourceVersion"].clone();
    metadata_mut(&mut value).insert("resourceVersion".to_owned(), version);
    Ok(value)
}

/// The change of a scale by a request.
struct ScaleChange {
    options: WriteOptions,
    /// The kind of patch; none when `sent` replaces the scale.
    patch: Option<PatchKind>,
    sent: Value,
}

impl ScaleChange {
    fn read(request: &ApiRequest) -> Result<Self, Status> {
        let Some(patch) = request.patch else {
            let options = WriteOptions::parse(&request.query, "UpdateOptions")?;
            let validation = options.field_validation;
            let decoded = decode::subresource(&request.content, &kind(), validation)?;
            request.warnings.add(decoded.warnings);
            return Ok(Self {
                options,
                patch: None,
                sent: decoded.value,
            });
        };
        let options = WriteOptions::parse(&request.query, "PatchOptions")?;
        check_options(patch, &options)?;
        if patch == PatchKind::Apply {
            return Err(Status::not_implemented(
                "server-side apply of a scale is not implemented yet: use a merge patch",
            ));
        }
        Ok(Self {
            options,
            patch: Some(patch),
            sent: parse_patch(&request.content, patch)?,
        })
    }

    /// The new scale.
    fn of(&self, target: &Target, old: &Object) -> Result<Value, Status> {
        let mut scale = match self.patch {
            None => self.sent.clone(),
            Some(patch) => {
                let mut scale = scale_of(target, old.value());
                if !has_replicas(target, old) {
                    scale["spec"]["replicas"] = json!(UNSET);
                }
                patch_value(&mut scale, &kind(), patch, &self.sent)?;
                let result = scale.to_string();
                conform_builtin(&mut scale, &kind())
                    .map_err(|error| decode::invalid_patch(result, &error.to_string()))?;
                scale
            }
        };
        check_name(metadata_mut(&mut scale), old.name())?;
        Ok(scale)
    }
}

/// Whether an object has replicas, as all built-in kinds do.
fn has_replicas(target: &Target, object: &Object) -> bool {
    custom_paths(target).is_none_or(|paths| object.value().pointer(&paths.wanted).is_some())
}

/// The scale of an object.
fn scale_of(target: &Target, object: &Value) -> Value {
    let at = |path: &str| object.pointer(path);
    let number = |path: &str| at(path).and_then(Value::as_i64).unwrap_or_default();
    let (wanted, present, selector) = match target.resource.custom() {
        Some(custom) => match &custom.scale {
            Some(paths) => {
                let selector = paths
                    .selector
                    .as_deref()
                    .and_then(at)
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let (wanted, present) = (number(&paths.wanted), number(&paths.present));
                (wanted, present, selector.to_owned())
            }
            None => (0, 0, String::new()),
        },
        None => (
            number("/spec/replicas"),
            number("/status/replicas"),
            selector_of(target, object),
        ),
    };
    let mut metadata = json!({});
    for field in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ] {
        let value = &object["metadata"][field];
        if !value.is_null() {
            metadata[field] = value.clone();
        }
    }
    let kind = kind();
    let mut scale = json!({
        "kind": kind.kind, "apiVersion": kind.api_version(), "metadata": metadata,
        "spec": {"replicas": wanted},
        "status": {"replicas": present, "selector": selector},
    });
    // Drops the zero values that Go omits.
    if let Err(error) = conform_builtin(&mut scale, &kind) {
        tracing::error!(%error, "scale does not conform to its kind");
    }
    scale
}

fn selector_of(target: &Target, object: &Value) -> String {
    let selector = target.resource.strategy.selector_of(object);
    selector
        .map(|selector| selector.to_string())
        .unwrap_or_default()
}

fn check(target: &Target, old: &Object, scale: &Value) -> Result<(), Status> {
    let replicas = scale["spec"]["replicas"].as_i64().unwrap_or_default();
    if let Some(paths) = custom_paths(target)
        && replicas == UNSET
    {
        return Err(Status::bad_request(format!(
            "the spec replicas field {:?} cannot be empty",
            paths.declared
        )));
    }
    if replicas < 0 {
        let detail = "must be greater than or equal to 0";
        let cause = Cause::invalid("spec.replicas", &json!(replicas), detail);
        return Err(Status::invalid(&kind(), old.name(), vec![cause]));
    }
    let uid = text(&scale["metadata"]["uid"]);
    if !uid.is_empty() && uid != old.uid() {
        let subresource = format!("{}/scale", target.resource.resource.plural);
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            old.uid()
        );
        let resource = (target.kind().group(), subresource.as_str());
        return Err(Status::conflict_because(resource, old.name(), &why));
    }
    Ok(())
}

fn set_replicas(target: &Target, value: &mut Value, scale: &Value) -> Result<(), Status> {
    let replicas = json!(scale["spec"]["replicas"].as_i64().unwrap_or_default());
    let Some(paths) = custom_paths(target) else {
        value["spec"]["replicas"] = replicas;
        return Ok(());
    };
    let mut field = value;
    for name in paths.wanted.split('/').filter(|name| !name.is_empty()) {
        if !field.is_object() && !field.is_null() {
            return Err(Status::internal(format!(
                "set the spec replicas field {:?}: a value on its path is not an object",
                paths.declared
            )));
        }
        field = &mut field[name];
    }
    *field = replicas;
    Ok(())
}

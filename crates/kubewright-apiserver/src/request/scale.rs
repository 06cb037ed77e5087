use http::StatusCode;
use kubewright_core::Kind;
use kubewright_wire::status::{Cause, Status};
use serde_json::{Value, json};

use super::admit::Admit;
use super::answer::{ApiBody, ApiResponse};
use super::decode;
use super::execute::{ApiRequest, PatchKind};
use super::metadata::{Part, check_name, keep_system_fields};
use super::options::WriteOptions;
use super::ownership::track;
use super::patch::{check_options, patch_value, read_patch};
use super::target::Target;
use super::update::{ATTEMPTS, Write, writer};
use super::version;
use crate::kinds::{label_selector, plain_selector};
use crate::server::Server;
use crate::store::{Object, metadata_mut};

const SUBRESOURCE: &str = "scale";
/// Stands for replicas that a custom resource does not name; no patch sets it.
const UNSET: i64 = -2_147_483_648;

fn kind() -> Kind {
    Kind::new("autoscaling", "v1", "Scale")
}

/// How many replicas an object wants and has.
pub(super) async fn get(server: &Server, target: &Target) -> Result<ApiResponse, Status> {
    let name = target.name()?;
    let object = server
        .store()
        .get(&target.key(name))
        .ok_or_else(|| target.not_found(name))?;
    let object = version::in_request(server, target, object).await?;
    if let Some(paths) = target
        .served
        .custom()
        .and_then(|custom| custom.scale.as_ref())
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

/// Changes how many replicas an object wants, by an update or a patch of its scale.
pub(super) async fn write(
    server: &Server,
    target: &Target,
    request: &ApiRequest,
) -> Result<ApiResponse, Status> {
    let name = target.name()?;
    let change = Change::read(request)?;
    let write = Write {
        target,
        admit: Admit::new(server, target, request, change.options.is_dry_run),
        writer: writer(server, request, &change.options, Part::Main),
    };
    for _ in 0..ATTEMPTS {
        let current = write.current(server, name).await?;
        let old = &current.old;
        let scale = change.of(target, old)?;
        let before = scale_of(target, old.value());
        let scale = write.admit.mutate_part(scale, before).await?;
        let scaled = write.changed(server, || scaled(&write, old, &scale));
        let value = scaled.await?;
        if let Some(object) = write.finish(server, &current, value).await? {
            let object = version::in_request(server, target, object).await?;
            let scale = ApiBody::Value(scale_of(target, object.value()));
            return Ok(ApiResponse::new(StatusCode::OK, scale));
        }
    }
    Err(Status::conflict(&target.served.resource, name))
}

/// The object with the replicas of the scale.
fn scaled(write: &Write<'_>, old: &Object, scale: &Value) -> Result<Value, Status> {
    let target = write.target;
    check(target, old, scale)?;
    let mut value = old.value().clone();
    set_replicas(target, &mut value, scale)?;
    let version = scale["metadata"]["resourceVersion"].clone();
    metadata_mut(&mut value).insert("resourceVersion".to_owned(), version);
    write.check_revision(old, &value)?;
    keep_system_fields(old, &mut value);
    let mut value = track(target, Some(old), value, &write.writer);
    drop_times(&mut value);
    Ok(value)
}

/// What a request does to a scale.
struct Change {
    options: WriteOptions,
    /// Whether, and how, `sent` is a patch; otherwise it takes the place of the scale.
    patch: Option<PatchKind>,
    sent: Value,
}

impl Change {
    fn read(request: &ApiRequest) -> Result<Self, Status> {
        let Some(patch) = request.patch else {
            let options = WriteOptions::parse(&request.query, "UpdateOptions")?;
            let validation = options.field_validation;
            let decoded = decode::part(&request.content, &kind(), validation)?;
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
            sent: read_patch(&request.content, patch)?,
        })
    }

    /// The scale as it is to be.
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
                decode::builtin(&mut scale, &kind())
                    .map_err(|error| decode::invalid_patch(result, &error.to_string()))?;
                scale
            }
        };
        check_name(metadata_mut(&mut scale), old.name())?;
        Ok(scale)
    }
}

/// Whether an object says how many replicas it wants; a built-in one always does.
fn has_replicas(target: &Target, object: &Object) -> bool {
    let custom = target
        .served
        .custom()
        .and_then(|custom| custom.scale.as_ref());
    custom.is_none_or(|paths| object.value().pointer(&paths.wanted).is_some())
}

/// The scale of an object.
pub(super) fn scale_of(target: &Target, object: &Value) -> Value {
    let at = |path: &str| object.pointer(path);
    let number = |path: &str| at(path).and_then(Value::as_i64).unwrap_or_default();
    let (wanted, present, selector) = match target.served.custom() {
        Some(custom) => match &custom.scale {
            Some(paths) => {
                let selector = paths.selector.as_deref().and_then(at);
                let selector = selector.and_then(Value::as_str).unwrap_or_default();
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
    let mut scale = json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
        "spec": {"replicas": wanted},
        "status": {"replicas": present, "selector": selector},
    });
    // As Go writes it: zero values are left out where it leaves them out.
    if let Err(error) = decode::builtin(&mut scale, &kind()) {
        tracing::error!(%error, "a scale is not one");
    }
    scale
}

fn selector_of(target: &Target, object: &Value) -> String {
    let selector = object.pointer("/spec/selector");
    let selector = selector.unwrap_or(&Value::Null);
    let selector = match target.served.is("", "ReplicationController") {
        true => Some(plain_selector(selector)),
        false => label_selector(selector),
    };
    selector.map(|one| one.to_string()).unwrap_or_default()
}

fn check(target: &Target, old: &Object, scale: &Value) -> Result<(), Status> {
    let replicas = scale["spec"]["replicas"].as_i64().unwrap_or_default();
    let custom = target
        .served
        .custom()
        .and_then(|custom| custom.scale.as_ref());
    if let Some(paths) = custom.filter(|_| replicas == UNSET) {
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
    let uid = scale["metadata"]["uid"].as_str().unwrap_or_default();
    if !uid.is_empty() && uid != old.uid() {
        let part = format!("{}/scale", target.served.resource.plural);
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            old.uid()
        );
        let resource = (target.kind().group(), part.as_str());
        return Err(Status::conflict_because(resource, old.name(), &why));
    }
    Ok(())
}

fn set_replicas(target: &Target, value: &mut Value, scale: &Value) -> Result<(), Status> {
    let replicas = json!(scale["spec"]["replicas"].as_i64().unwrap_or_default());
    let custom = target
        .served
        .custom()
        .and_then(|custom| custom.scale.as_ref());
    let Some(paths) = custom else {
        value["spec"]["replicas"] = replicas;
        return Ok(());
    };
    let mut at = value;
    for name in paths.wanted.split('/').filter(|name| !name.is_empty()) {
        if !at.is_object() && !at.is_null() {
            return Err(Status::internal(format!(
                "the spec replicas field {:?} leads through a value that is no object",
                paths.declared
            )));
        }
        at = &mut at[name];
    }
    *at = replicas;
    Ok(())
}

/// Who writes a scale is noted without a time; entries without one stand before the others
/// (k8s.io/apimachinery/pkg/util/managedfields/scalehandler.go).
fn drop_times(value: &mut Value) {
    let metadata = metadata_mut(value);
    let Some(entries) = metadata
        .get_mut("managedFields")
        .and_then(Value::as_array_mut)
    else {
        return;
    };
    for entry in entries.iter_mut() {
        if entry["subresource"] == SUBRESOURCE
            && let Some(members) = entry.as_object_mut()
        {
            members.remove("time");
        }
    }
    entries.sort_by_key(|entry| (entry["operation"] != "Apply", entry.get("time").is_some()));
}

//! What a write does to an object: the body of a request, decoded.

use kubewright_core::Verb;
use kubewright_kinds::Permission;
use kubewright_kinds::json::text;
use kubewright_wire::apply::Force;
use kubewright_wire::status::{Cause, Reason, Status};
use serde_json::{Map, Value, json};

use super::patch::{
    check_absent_uid, check_options, drop_duplicate_owners, parse_configuration, parse_patch,
    patched,
};
use super::sent_metadata::{accept_namespace, accept_new, check_name};
use crate::request::codec::decode;
use crate::request::message::{ApiRequest, PatchKind};
use crate::request::options::WriteOptions;
use crate::request::target::Target;
use crate::store::{Object, metadata_mut};
use crate::warnings::Warnings;

/// What a write does to an object.
pub(crate) enum Change<'a> {
    /// The object in the body takes the place of the stored one, or is created.
    Replace(Value),
    Patch(Patch),
    Apply(Apply),
    /// A subresource changes the stored object.
    Edit(Edit<'a>),
}

/// A patch other than apply.
pub(crate) struct Patch {
    kind: PatchKind,
    patch: Value,
    options: WriteOptions,
    warnings: Warnings,
}

/// The configuration of an apply.
pub(crate) struct Apply {
    configuration: Value,
    pub(super) force: Force,
}

/// A change of the stored object by a subresource.
pub(crate) struct Edit<'a> {
    pub(crate) edit: &'a (dyn Fn(&Object) -> Result<Value, Status> + Send + Sync),
    pub(crate) ownership: Ownership,
}

/// Whether an edit changes the owners of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// The writer owns the fields that it changes.
    Tracked,
    /// The writer owns them, without a time, as for a scale.
    TrackedWithoutTime,
    /// `managedFields` stay as they are, as for bindings and evictions in Kubernetes.
    Unchanged,
}

impl Change<'_> {
    /// Decodes the body of a create, update or patch.
    pub(crate) fn read(
        target: &Target,
        request: &ApiRequest,
        options: &WriteOptions,
    ) -> Result<Self, Status> {
        if request.route.verb == Verb::Patch {
            return Self::read_patch(target, request, options);
        }
        let validation = options.field_validation;
        let decoded = decode::object(target, &request.content, target.kind(), validation)?;
        request.warnings.add(decoded.warnings);
        let mut sent = decoded.value;
        if let Some(name) = &target.name {
            let metadata = metadata_mut(&mut sent);
            accept_namespace(target, metadata)?;
            check_name(metadata, name)?;
        } else {
            accept_new(target, &mut sent)?;
        }
        request.warnings.add(drop_duplicate_owners(&mut sent));
        Ok(Self::Replace(sent))
    }

    fn read_patch(
        target: &Target,
        request: &ApiRequest,
        options: &WriteOptions,
    ) -> Result<Self, Status> {
        let kind = request.patch.ok_or_else(Status::unsupported_patch_type)?;
        check_options(kind, options)?;
        if kind == PatchKind::Apply {
            return Apply::read(target, request, options).map(Self::Apply);
        }
        if kind == PatchKind::StrategicMerge && target.resource.custom().is_some() {
            return Err(Status::failure(
                415,
                Some(Reason::UnsupportedMediaType),
                "the body of the request was in an unknown format - accepted media types include: \
                 application/json-patch+json, application/merge-patch+json, \
                 application/apply-patch+yaml",
            ));
        }
        Ok(Self::Patch(Patch {
            kind,
            patch: parse_patch(&request.content, kind)?,
            options: options.clone(),
            warnings: request.warnings.clone(),
        }))
    }

    /// The object that takes the place of the stored one, before its owners are known. The object
    /// of a POST is taken out of the change. That of a PUT is kept: if another write creates the
    /// object first, the PUT is repeated as an update.
    pub(super) fn object(
        &mut self,
        target: &Target,
        old: Option<&Object>,
    ) -> Result<Value, Status> {
        match (self, old) {
            (Self::Replace(sent), None) => {
                if target.name.is_none() {
                    return Ok(std::mem::take(sent));
                }
                let mut new = sent.clone();
                accept_new(target, &mut new)?;
                Ok(new)
            }
            (Self::Replace(sent), Some(old)) => {
                check_preconditions(target, old, sent)?;
                Ok(sent.clone())
            }
            (Self::Patch(patch), Some(old)) => {
                let (value, warnings) =
                    patched(target, old, patch.kind, &patch.patch, &patch.options)?;
                patch.warnings.add(warnings);
                Ok(value)
            }
            (Self::Edit(edit), Some(old)) => (edit.edit)(old),
            (Self::Apply(apply), None) => {
                check_absent_uid(target, &apply.configuration)?;
                Ok(apply.configuration.clone())
            }
            (Self::Apply(apply), Some(_)) => Ok(apply.configuration.clone()),
            (Self::Patch(_) | Self::Edit(_), None) => Err(target.not_found(target.name()?)),
        }
    }
}

impl Apply {
    fn read(target: &Target, request: &ApiRequest, options: &WriteOptions) -> Result<Self, Status> {
        let name = target.name()?;
        let configuration = parse_configuration(&request.content)?;
        let metadata = configuration["metadata"].as_object();
        check_name(metadata.unwrap_or(&Map::new()), name)?;
        accept_namespace(target, metadata_mut(&mut configuration.clone()))?;
        let force = if options.force == Some(true) {
            Force::Yes
        } else {
            Force::No
        };
        Ok(Self {
            configuration,
            force,
        })
    }
}

/// Completes the result of an apply: it conforms to its kind, and a new object has no revision.
pub(super) fn complete_applied(
    target: &Target,
    old: Option<&Object>,
    merged: &mut Value,
) -> Result<(), Status> {
    target.resource.conform_applied(merged)?;
    if old.is_none() {
        metadata_mut(merged).remove("resourceVersion");
        accept_new(target, merged)?;
    }
    Ok(())
}

/// Checks the preconditions of a PUT: a `resourceVersion`, if the kind requires one, and a uid.
fn check_preconditions(target: &Target, old: &Object, sent: &Value) -> Result<(), Status> {
    let version = text(&sent["metadata"]["resourceVersion"]);
    let is_required = target.resource.strategy.unconditional_update == Permission::Denied;
    if version.is_empty() && is_required {
        let detail = "must be specified for an update";
        let cause = Cause::invalid("metadata.resourceVersion", &json!(0), detail);
        let (group, plural) = (target.kind().group(), &target.resource.resource.plural);
        return Err(Status::invalid_as(group, plural, old.name(), vec![cause]));
    }
    let uid = text(&sent["metadata"]["uid"]);
    if !uid.is_empty() && uid != old.uid() {
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: /registry{}, ResourceVersion: 0, \
             AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object \
             meta: {}",
            target.key(old.name()),
            old.uid()
        );
        return Err(Status::conflict_because(
            &target.resource.resource,
            old.name(),
            &why,
        ));
    }
    Ok(())
}

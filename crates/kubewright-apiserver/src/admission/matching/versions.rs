//! The objects of a request in the version that a webhook or policy sees.

use kubewright_core::Kind;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::criteria::Invocation;
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::resources::CustomVersion;

/// The objects of a request in one version.
#[derive(Debug)]
pub(crate) struct VersionedObjects {
    /// The new object; none for a deletion.
    pub(crate) object: Option<Value>,
    /// The stored object; none for a creation.
    pub(crate) old: Option<Value>,
}

/// Why an object cannot be converted to a version.
#[derive(Debug)]
pub(crate) enum ConversionFailure {
    /// The server does not implement the conversion.
    Unsupported(Status),
    /// The conversion failed.
    Failed(String),
}

impl From<ConversionFailure> for Status {
    fn from(failure: ConversionFailure) -> Self {
        match failure {
            ConversionFailure::Unsupported(status) => status,
            ConversionFailure::Failed(why) => Self::internal(why),
        }
    }
}

/// The objects of a request in the version of an invocation. `requester` names the webhook or
/// policy in error messages.
pub(crate) async fn objects(
    context: &AdmissionContext,
    requester: &str,
    invocation: &Invocation,
    attributes: &AdmissionAttributes,
) -> Result<VersionedObjects, ConversionFailure> {
    let is_builtin = attributes.resource.custom().is_none();
    if is_builtin && invocation.kind != attributes.kind {
        return Err(ConversionFailure::Unsupported(Status::not_implemented(
            format!(
                "{requester} matches {}: conversion from {} is not implemented yet",
                invocation.kind, attributes.kind
            ),
        )));
    }
    let kind = &invocation.kind;
    Ok(VersionedObjects {
        object: in_version(context, attributes, attributes.object.as_ref(), kind).await?,
        old: in_version(context, attributes, attributes.old(), kind).await?,
    })
}

/// An object of a request in the version of a kind. Only objects of custom resources are converted.
pub(crate) async fn in_version(
    context: &AdmissionContext,
    attributes: &AdmissionAttributes,
    object: Option<&Value>,
    kind: &Kind,
) -> Result<Option<Value>, ConversionFailure> {
    let Some(object) = object.cloned() else {
        return Ok(None);
    };
    let Some(custom) = attributes.resource.custom() else {
        return Ok(Some(object));
    };
    match converted(context, custom, object, kind).await {
        Ok(object) => Ok(Some(object)),
        Err(status) => Err(ConversionFailure::Failed(status.message)),
    }
}

/// An object of a custom resource in the version of a kind.
pub(crate) async fn converted(
    context: &AdmissionContext,
    custom: &CustomVersion,
    object: Value,
    kind: &Kind,
) -> Result<Value, Status> {
    let wanted = kind.api_version();
    if object["apiVersion"] == wanted.as_str() {
        return Ok(object);
    }
    custom
        .conversion
        .convert_one(&context.webhooks, kind, object, &wanted)
        .await
}

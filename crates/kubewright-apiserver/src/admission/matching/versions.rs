use kubewright_core::Kind;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::criteria::Invocation;
use crate::admission::attributes::Attributes;
use crate::admission::context::AdmissionContext;
use crate::resources::CustomVersion;

/// Why an object is not had in a version.
#[derive(Debug)]
pub(crate) enum NotConverted {
    /// There is no way there yet.
    Lacking(Status),
    /// There is one, and it failed.
    Failed(String),
}

impl From<NotConverted> for Status {
    fn from(why: NotConverted) -> Self {
        match why {
            NotConverted::Lacking(status) => status,
            NotConverted::Failed(why) => Self::internal(why),
        }
    }
}

/// The object as it would be and as it is, in the version that `asker` asks for.
pub(crate) async fn objects(
    context: &AdmissionContext,
    asker: &str,
    invocation: &Invocation,
    attributes: &Attributes,
) -> Result<(Option<Value>, Option<Value>), NotConverted> {
    let is_builtin = attributes.resource.custom().is_none();
    if is_builtin && invocation.kind != attributes.kind {
        return Err(NotConverted::Lacking(Status::not_implemented(format!(
            "{asker} asks for {}: conversion from {} is not implemented yet",
            invocation.kind, attributes.kind
        ))));
    }
    let kind = &invocation.kind;
    Ok((
        in_version(context, attributes, attributes.object.as_ref(), kind).await?,
        in_version(context, attributes, attributes.old(), kind).await?,
    ))
}

/// An object in the version of a kind; only custom resources have a way there.
pub(crate) async fn in_version(
    context: &AdmissionContext,
    attributes: &Attributes,
    object: Option<&Value>,
    kind: &Kind,
) -> Result<Option<Value>, NotConverted> {
    let Some(object) = object.cloned() else {
        return Ok(None);
    };
    let Some(custom) = attributes.resource.custom() else {
        return Ok(Some(object));
    };
    match converted(context, custom, object, kind).await {
        Ok(object) => Ok(Some(object)),
        Err(status) => Err(NotConverted::Failed(status.message)),
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
    let objects = vec![object];
    let converted = custom
        .conversion
        .convert(&context.webhooks, kind, objects, &wanted);
    Ok(converted.await?.pop().unwrap_or_default())
}

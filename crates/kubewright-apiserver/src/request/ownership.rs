use kubewright_wire::status::Status;
use serde_json::Value;

use super::target::Target;
use crate::store::Object;

/// In whose name fields are written.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    pub(super) manager: String,
    pub(super) subresource: Option<String>,
    pub(super) now: String,
}

/// Notes who owns which fields after a write that is no apply.
pub(super) fn track(
    _target: &Target,
    _old: Option<&Object>,
    new: Value,
    _writer: &Writer,
) -> Result<Value, Status> {
    Ok(new)
}

/// Merges an applied configuration into the stored object.
pub(super) fn apply(
    _target: &Target,
    _old: Option<&Object>,
    _applied: &Value,
    _writer: &Writer,
    _force: bool,
) -> Result<Value, Status> {
    Err(Status::not_implemented(
        "server-side apply is not implemented yet",
    ))
}

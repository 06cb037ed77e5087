use kubewright_core::{Kind, WebhookKind};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::{policy, webhook};
use crate::server::Server;

/// Why a configuration of admission cannot be honoured here, when it cannot; nothing for other
/// kinds.
pub(crate) fn configuration_refusal(kind: &Kind, value: &Value) -> Result<(), Status> {
    webhook::configuration_refusal(kind, value)?;
    policy::refusal(kind, value)
}

/// Whether there is any policy or webhook of a kind to ask.
pub(crate) fn is_asked(server: &Server, kind: WebhookKind) -> bool {
    policy::is_used(server, kind) || webhook::is_used(server, kind)
}

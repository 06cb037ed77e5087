use kubewright_wire::status::Status;
use serde_json::Value;

use super::Attributes;

const LEVEL: &str = "/metadata/labels/pod-security.kubernetes.io~1enforce";

/// A Namespace that asks for a level of security to be enforced would not get it: it is refused.
pub(super) fn check(attributes: &Attributes<'_>, namespace: &Value) -> Result<(), Status> {
    if !attributes.served.is("", "Namespace") {
        return Ok(());
    }
    let level = namespace.pointer(LEVEL).and_then(Value::as_str);
    match level {
        Some("baseline" | "restricted") => Err(Status::not_implemented(format!(
            "enforcing the PodSecurity level {} is not implemented yet: take the label \
             pod-security.kubernetes.io/enforce away",
            level.unwrap_or_default()
        ))),
        _ => Ok(()),
    }
}

use kubewright_wire::status::Status;
use serde_json::Value;

use super::{
    Attributes, limit_range, pod_security, priority, quota, service_account, taint_nodes,
    toleration_seconds,
};

/// What the plugins make of an object, in the order in which Kubernetes asks them.
pub(crate) fn mutate(attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Status> {
    limit_range::fill_in(attributes, object);
    service_account::admit(attributes, object)?;
    taint_nodes::admit(attributes, object);
    priority::admit(attributes, object)?;
    toleration_seconds::admit(attributes, object);
    Ok(())
}

/// Whether the plugins let an object pass as it will be stored. The quota is the last to be
/// asked, for it counts what it lets pass.
pub(crate) fn validate(attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
    limit_range::check(attributes, object)?;
    pod_security::check(attributes, object)?;
    priority::check_class(attributes, object)?;
    quota::check(attributes, object)
}

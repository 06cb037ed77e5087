use kubewright_wire::status::Status;
use serde_json::Value;

use super::{
    Attributes, limit_range, matching, pod_security, policy, priority, quota, service_account,
    taint_nodes, toleration_seconds, webhook,
};
use crate::request::Warnings;
use crate::server::Server;

/// What the plugins make of an object, in the order in which Kubernetes asks them. Policies and
/// webhooks come next, in `reinvoke`.
pub(crate) fn mutate(attributes: &Attributes<'_>, object: &mut Value) -> Result<(), Status> {
    limit_range::fill_in(attributes, object);
    service_account::admit(attributes, object)?;
    taint_nodes::admit(attributes, object);
    priority::admit(attributes, object)?;
    toleration_seconds::admit(attributes, object);
    Ok(())
}

/// Whether the plugins let an object pass as it will be stored.
pub(crate) fn validate(attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
    limit_range::check(attributes, object)?;
    pod_security::check(attributes, object)?;
    priority::check_class(attributes, object)
}

/// Whether policies and webhooks let a request pass.
pub(crate) async fn ask(
    server: &Server,
    attributes: &matching::Attributes,
    warnings: &Warnings,
) -> Result<(), Status> {
    policy::validate(server, attributes, warnings).await?;
    webhook::validate(server, attributes, warnings).await
}

/// Whether the quota lets an object pass. It is the last to be asked, for it counts what it lets
/// pass.
pub(crate) fn charge(attributes: &Attributes<'_>, object: &Value) -> Result<(), Status> {
    quota::check(attributes, object)
}

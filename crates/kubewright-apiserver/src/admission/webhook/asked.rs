use kubewright_core::FailurePolicy;
use kubewright_wire::status::Status;

use super::configuration::Hook;
use crate::admission::matching::{Attributes, Invocation, all_hold, condition_request, objects};
use crate::cel::{ConditionInput, webhook_environment};
use crate::server::Server;

/// Whether and in which version a webhook is asked about a request, its conditions included.
pub(super) async fn asked_in(
    server: &Server,
    hook: &Hook,
    attributes: &Attributes,
) -> Result<Option<Invocation>, Status> {
    if is_exempt(attributes) {
        return Ok(None);
    }
    let Some(invocation) = hook.criteria.invocation(server, attributes)? else {
        return Ok(None);
    };
    if hook.conditions.is_empty() || hold(server, hook, &invocation, attributes).await? {
        return Ok(Some(invocation));
    }
    Ok(None)
}

/// Configurations of admission are never asked about themselves, or nobody could mend them.
fn is_exempt(attributes: &Attributes) -> bool {
    attributes.kind.group() == "admissionregistration.k8s.io"
}

/// Whether all conditions of a webhook hold for a request, whose objects are in the version that
/// the webhook asks for. An error is one that the failure policy does not forgive.
async fn hold(
    server: &Server,
    hook: &Hook,
    invocation: &Invocation,
    attributes: &Attributes,
) -> Result<bool, Status> {
    let (object, old) = objects(server, &hook.asker(), invocation, attributes).await?;
    let request = condition_request(invocation, attributes)?;
    let input = ConditionInput {
        object: object.as_ref(),
        old_object: old.as_ref(),
        request: &request,
    };
    match all_hold(&hook.conditions, webhook_environment(), &input.variables()) {
        Ok(holds) => Ok(holds),
        Err(_) if hook.failure_policy == FailurePolicy::Ignore => Ok(false),
        Err(why) => {
            let resource = &attributes.served.resource;
            Err(Status::forbidden(resource, &attributes.name, &why))
        }
    }
}

//! Which webhooks see a request.

use kubewright_cel::ConditionInput;
use kubewright_core::FailurePolicy;
use kubewright_kinds::groups::ADMISSION_REGISTRATION;
use kubewright_wire::status::Status;

use super::hook::Hook;
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::admission::matching::{Invocation, condition_request, objects};

/// The version in which a webhook sees a request; none when its rules or conditions exclude it.
pub(super) async fn invocation(
    context: &AdmissionContext,
    hook: &Hook,
    attributes: &AdmissionAttributes,
) -> Result<Option<Invocation>, Status> {
    if is_exempt(attributes) {
        return Ok(None);
    }
    let Some(invocation) = hook.criteria.invocation(context, attributes)? else {
        return Ok(None);
    };
    if hook.conditions.is_empty() || conditions_hold(context, hook, &invocation, attributes).await?
    {
        return Ok(Some(invocation));
    }
    Ok(None)
}

/// Webhooks never see webhook configurations and policies: a broken one could not be repaired.
fn is_exempt(attributes: &AdmissionAttributes) -> bool {
    attributes.kind.group() == ADMISSION_REGISTRATION
}

/// Whether all conditions of a webhook are true for a request, with its objects in the version of
/// the webhook. With `failurePolicy: Ignore` an error counts as false.
async fn conditions_hold(
    context: &AdmissionContext,
    hook: &Hook,
    invocation: &Invocation,
    attributes: &AdmissionAttributes,
) -> Result<bool, Status> {
    let objects = objects(context, &hook.display_name(), invocation, attributes).await?;
    let request = condition_request(invocation, attributes)?;
    let input = ConditionInput {
        object: objects.object.as_ref(),
        old_object: objects.old.as_ref(),
        request: &request,
    };
    match hook.conditions.hold(&input.variables()) {
        Ok(holds) => Ok(holds),
        Err(_) if hook.failure_policy == FailurePolicy::Ignore => Ok(false),
        Err(why) => {
            let resource = &attributes.resource.resource;
            Err(Status::forbidden(resource, &attributes.name, &why))
        }
    }
}

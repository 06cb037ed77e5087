//! Admission: the only calls of the admission chain, and the admission of requests that do not pass
//! the write pipeline.

use kubewright_wire::status::Status;
use serde_json::Value;

use crate::admission::AdmissionAttributes;
use crate::request::api::Api;
use crate::warnings::Warnings;

/// Lets admission change the object of a request.
pub(crate) async fn mutate(
    api: &Api,
    mut attributes: AdmissionAttributes,
    warnings: &Warnings,
) -> Result<AdmissionAttributes, Status> {
    api.admission.mutate(&mut attributes, warnings).await?;
    Ok(attributes)
}

/// Lets admission deny a request, with the object as it would be stored.
pub(super) async fn validate(
    api: &Api,
    attributes: AdmissionAttributes,
    warnings: &Warnings,
) -> Result<AdmissionAttributes, Status> {
    api.admission.validate(&attributes, warnings).await?;
    Ok(attributes)
}

/// Lets admission mutate and then validate a request that stores no object: a deletion, a
/// connection, or a subresource such as `binding`. Returns the mutated object, where there is one.
pub(crate) async fn admit(
    api: &Api,
    attributes: AdmissionAttributes,
    warnings: &Warnings,
) -> Result<Option<Value>, Status> {
    admit_completed(api, attributes, warnings, Ok).await
}

/// Like [`admit`], with a step that completes the object between mutation and validation.
pub(crate) async fn admit_completed(
    api: &Api,
    attributes: AdmissionAttributes,
    warnings: &Warnings,
    complete: impl FnOnce(Value) -> Result<Value, Status>,
) -> Result<Option<Value>, Status> {
    let mut mutated = mutate(api, attributes, warnings).await?;
    mutated.object = mutated.object.map(complete).transpose()?;
    let admitted = validate(api, mutated, warnings).await?;
    Ok(admitted.object)
}

//! Calls validating webhooks.

use std::sync::Arc;

use futures_util::future::join_all;
use kubewright_wire::status::Status;

use super::hook::Hook;
use super::invoke::{apply_failure_policy, invoke};
use super::relevant::invocation;
use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::warnings::Warnings;

/// Calls the validating webhooks for a request concurrently. The first denial in their order fails
/// the request.
pub(super) async fn validate(
    context: &AdmissionContext,
    configurations: &[Arc<Vec<Hook>>],
    attributes: &AdmissionAttributes,
    warnings: &Warnings,
) -> Result<(), Status> {
    let mut relevant = Vec::new();
    for hook in configurations.iter().flat_map(|hooks| hooks.iter()) {
        if let Some(invocation) = invocation(context, hook, attributes).await? {
            relevant.push((hook, invocation));
        }
    }
    let calls = relevant.iter().map(async |(hook, invocation)| {
        let response = invoke(context, hook, invocation, attributes, warnings).await;
        apply_failure_policy(hook, response).map(drop)
    });
    join_all(calls).await.into_iter().collect()
}

//! Checks that the cluster serves an operator's policies.

use kube::Client;
use kubewright_core::PolicyDescription;

use crate::Error;

const GROUP_VERSION: &str = "admissionregistration.k8s.io/v1";

/// Returns an error if the cluster does not serve the policies of an operator: their rules would
/// silently have no effect.
///
/// # Cancel safety
///
/// Dropping the future has no effect.
pub(crate) async fn check_served(
    client: &Client,
    policies: &[PolicyDescription],
) -> Result<(), Error> {
    if policies.is_empty() {
        return Ok(());
    }
    let resources = match client.list_api_group_resources(GROUP_VERSION).await {
        Ok(list) => list.resources,
        Err(error) => {
            tracing::warn!(%error, "discover whether the cluster serves policies");
            return Ok(());
        }
    };
    let is_served = |policy: &PolicyDescription| {
        let kind = policy.effect.kind();
        resources.iter().any(|resource| resource.kind == kind)
    };
    match policies.iter().find(|policy| !is_served(policy)) {
        None => Ok(()),
        Some(policy) => Err(Error::PolicyNotServed {
            policy: policy.name.clone(),
            kind: policy.effect.kind(),
            since: policy.effect.since(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::{Request, Response};
    use k8s_openapi::api::core::v1::Pod;
    use kube::Client;
    use kube::client::Body;
    use serde_json::json;

    use super::check_served;
    use crate::{Operator, Policy};

    /// Returns a client whose API server serves these kinds in the group of policies.
    fn client(kinds: &'static [&'static str]) -> Client {
        let service = tower::service_fn(move |_: Request<Body>| async move {
            let resource = |kind: &&str| {
                json!({"kind": kind, "name": kind.to_lowercase(), "namespaced": false,
                    "singularName": "", "verbs": ["get"]})
            };
            let resources: Vec<_> = kinds.iter().map(resource).collect();
            let list = json!({"kind": "APIResourceList", "apiVersion": "v1",
                "groupVersion": "admissionregistration.k8s.io/v1", "resources": resources});
            Ok::<_, Infallible>(Response::new(Body::from(list.to_string().into_bytes())))
        });
        Client::new(service, "default")
    }

    async fn error_of(kinds: &'static [&'static str]) -> Option<String> {
        let operator = Operator::new("guard")
            .policy(Policy::validates::<Pod>("pinned").rule("true", "pin the image"))
            .policy(Policy::mutates::<Pod>("marked").patch("[]"));
        let policies = operator.description().policies;
        let result = check_served(&client(kinds), &policies).await;
        result.err().map(|error| error.to_string())
    }

    #[tokio::test]
    async fn error_names_the_policy_that_is_not_served_and_the_next_step() {
        let both = &["ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"];
        assert_eq!(error_of(both).await, None);
        assert_eq!(
            error_of(&["ValidatingAdmissionPolicy"]).await.as_deref(),
            Some(
                "run with policy \"guard.marked\": the cluster does not serve MutatingAdmissionPolicy, \
                 which Kubernetes has since 1.36; install and run the operator with \
                 --no-policies, which uses the fallback webhooks, or upgrade the cluster"
            )
        );
    }
}

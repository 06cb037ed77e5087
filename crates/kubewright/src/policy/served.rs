use kube::Client;
use kubewright_core::PolicyDescription;

use crate::Error;

const GROUP_VERSION: &str = "admissionregistration.k8s.io/v1";

/// Refuses to go on where the cluster does not serve the policies of an operator: their rules
/// would hold for nobody, and nobody would know.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn check_served(
    client: &Client,
    policies: &[PolicyDescription],
) -> Result<(), Error> {
    if policies.is_empty() {
        return Ok(());
    }
    let served = match client.list_api_group_resources(GROUP_VERSION).await {
        Ok(served) => served.resources,
        Err(error) => {
            tracing::warn!(%error, "whether the cluster serves policies is not known");
            return Ok(());
        }
    };
    let kinds: Vec<&str> = served.iter().map(|one| one.kind.as_str()).collect();
    match lacking(policies, &kinds) {
        None => Ok(()),
        Some(policy) => Err(Error::PolicyNotServed {
            policy: policy.name.clone(),
            kind: policy.effect.kind(),
            since: policy.effect.since(),
        }),
    }
}

/// The first policy of a kind that is not served.
fn lacking<'p>(policies: &'p [PolicyDescription], kinds: &[&str]) -> Option<&'p PolicyDescription> {
    let mut policies = policies.iter();
    policies.find(|one| !kinds.contains(&one.effect.kind()))
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

    /// A client whose API server has these kinds in the group of policies.
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

    async fn refusal(kinds: &'static [&'static str]) -> Option<String> {
        let operator = Operator::new("guard")
            .policy(Policy::validates::<Pod>("pinned").rule("true", "pin the image"))
            .policy(Policy::mutates::<Pod>("marked").patch("[]"));
        let policies = operator.description().policies;
        let checked = check_served(&client(kinds), &policies).await;
        checked.err().map(|error| error.to_string())
    }

    #[tokio::test]
    async fn a_policy_that_the_cluster_does_not_serve_is_named_with_what_to_do() {
        let both = &["ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"];
        assert_eq!(refusal(both).await, None);
        assert_eq!(
            refusal(&["ValidatingAdmissionPolicy"]).await.as_deref(),
            Some(
                "run with policy \"guard.marked\": the cluster serves no MutatingAdmissionPolicy, \
                 which Kubernetes does since 1.36; install and run the operator with \
                 --no-policies, so that webhooks stand in, or upgrade the cluster"
            )
        );
    }
}

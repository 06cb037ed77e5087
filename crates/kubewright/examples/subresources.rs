//! Subresources of built-in kinds: a status, an eviction, a token.

use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kubewright::client::{connect, load_config};
use kubewright::kube::Client;
use kubewright::kube::api::{Api, EvictParams, Patch, PatchParams, PostParams};
use kubewright::prelude::*;
use serde_json::json;

/// Sends requests to the subresources in `namespace`, and returns the results.
pub(crate) async fn work(client: Client, namespace: &str) -> Result<Vec<String>> {
    let mut results = Vec::new();
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let pod = serde_json::from_value(json!({
        "metadata": {"name": "guest"},
        "spec": {"containers": [{"name": "app", "image": "registry.k8s.io/pause:3.10"}]},
    }))?;
    pods.create(&PostParams::default(), &pod).await?;
    // A patch of the status does not change the rest of the Pod, and vice versa.
    let status = json!({"status": {"message": "unpacking"}});
    let patched = pods
        .patch_status("guest", &PatchParams::default(), &Patch::Merge(&status))
        .await?;
    let message = patched.status.and_then(|status| status.message);
    results.push(format!("status {}", message.unwrap_or_default()));
    // An eviction deletes the Pod unless a PodDisruptionBudget prevents it.
    pods.evict("guest", &EvictParams::default()).await?;
    let pod = pods.get_opt("guest").await?;
    let is_deleted = pod.is_none_or(|pod| pod.metadata.deletion_timestamp.is_some());
    results.push(format!("evicted {is_deleted}"));
    let accounts: Api<ServiceAccount> = Api::namespaced(client, namespace);
    let account = serde_json::from_value(json!({"metadata": {"name": "robot"}}))?;
    accounts.create(&PostParams::default(), &account).await?;
    let request = TokenRequest {
        spec: Some(TokenRequestSpec {
            expiration_seconds: Some(600),
            ..TokenRequestSpec::default()
        }),
        ..TokenRequest::default()
    };
    let options = PostParams::default();
    let token: TokenRequest = accounts
        .create_subresource("token", "robot", &options, &request)
        .await?;
    let parts = token.status.map_or(0, |status| {
        status.token.unwrap_or_default().split('.').count()
    });
    results.push(format!("a token of {parts} parts"));
    Ok(results)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "subresources-example")?;
    let namespace = client.default_namespace().to_owned();
    let results = work(client, &namespace).await;
    let results = results.map_err(|error| error.to_string())?;
    println!("{}", results.join("\n"));
    Ok(())
}

//! Subresources of built-in kinds: a status, an eviction, a token.

use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kubewright::kube::Client;
use kubewright::kube::api::{Api, EvictParams, Patch, PatchParams, PostParams};
use kubewright::prelude::*;
use kubewright_runtime::client::{connect, load_config};
use serde_json::json;

/// Does all of it in `namespace`, and says what was seen.
pub(crate) async fn work(client: Client, namespace: &str) -> Result<Vec<String>> {
    let mut seen = Vec::new();
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let pod = serde_json::from_value(json!({
        "metadata": {"name": "guest"},
        "spec": {"containers": [{"name": "app", "image": "registry.k8s.io/pause:3.10"}]},
    }))?;
    pods.create(&PostParams::default(), &pod).await?;
    // The status is a part of its own: a patch of the Pod does not touch it, and the other way
    // round.
    let status = json!({"status": {"message": "unpacking"}});
    let patched = pods
        .patch_status("guest", &PatchParams::default(), &Patch::Merge(&status))
        .await?;
    let message = patched.status.and_then(|status| status.message);
    seen.push(format!("status {}", message.unwrap_or_default()));
    // A polite delete: PodDisruptionBudgets are heeded.
    pods.evict("guest", &EvictParams::default()).await?;
    let left = pods.get_opt("guest").await?;
    let going = left.is_none_or(|pod| pod.metadata.deletion_timestamp.is_some());
    seen.push(format!("evicted {going}"));
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
    seen.push(format!("a token of {parts} parts"));
    Ok(seen)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "subresources-example")?;
    let namespace = client.default_namespace().to_owned();
    let seen = work(client, &namespace).await;
    println!("{}", seen.map_err(|one| one.to_string())?.join("\n"));
    Ok(())
}

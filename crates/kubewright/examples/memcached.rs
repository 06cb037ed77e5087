//! Memcached, the kind of the Operator SDK's tutorial: a Deployment with the number of replicas in the
//! spec, and a condition whether they are available.

use std::process::ExitCode;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kubewright::prelude::*;
use kubewright::{condition, set_condition};
use serde_json::json;

/// A memcached with several replicas.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "cache.example.com", version = "v1alpha1", kind = "Memcached")]
#[kube(namespaced, status = "MemcachedStatus")]
#[serde(rename_all = "camelCase")]
pub(crate) struct MemcachedSpec {
    /// The number of replicas.
    #[schemars(range(min = 1, max = 3))]
    pub(crate) size: i32,
    /// The port of the replicas.
    #[serde(default = "default_port")]
    pub(crate) container_port: i32,
}

pub(crate) fn default_port() -> i32 {
    11211
}

/// Whether the replicas are available.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct MemcachedStatus {
    #[schemars(schema_with = "kubewright::schema::conditions")]
    pub(crate) conditions: Vec<Condition>,
}

async fn reconcile(cache: Arc<Memcached>, cx: Context<Memcached>) -> Result<Outcome> {
    cx.apply(&deployment(&cache)?).await?;
    let available = cx
        .get::<Deployment>(cx.key().name())?
        .and_then(|deployment| deployment.status.as_ref()?.available_replicas)
        .unwrap_or_default();
    let size = cache.spec.size;
    cx.status(|status| {
        let message = format!("{available} of {size} are available");
        let condition = condition("Available", available == size, "Reconciling", message);
        set_condition(&mut status.conditions, condition);
    })
    .await?;
    Ok(Outcome::done())
}

/// Returns the Deployment of the object.
fn deployment(cache: &Memcached) -> Result<Deployment> {
    let labels = json!({"app.kubernetes.io/name": "memcached", "cache": cache.name_any()});
    let deployment = json!({
        "metadata": {"name": cache.name_any()},
        "spec": {
            "replicas": cache.spec.size,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "securityContext": {"runAsNonRoot": true, "runAsUser": 1001},
                    "containers": [{
                        "name": "memcached",
                        "image": "memcached:1.6.26-alpine3.19",
                        "command": ["memcached", "--memory-limit=64", "-o", "modern", "-v"],
                        "ports": [{"name": "memcached", "containerPort": cache.spec.container_port}],
                    }],
                },
            },
        },
    });
    Ok(serde_json::from_value(deployment)?)
}

pub(crate) fn operator() -> Operator {
    Operator::new("memcached").controller(Controller::new(reconcile).owns(kind::<Deployment>()))
}

fn main() -> ExitCode {
    operator().main()
}

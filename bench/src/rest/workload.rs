//! The objects of the benchmark `rest`.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use http::{Method, Request};
use kube::Client;
use kubewright_wire::yaml;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::{Instant, sleep};

use crate::error::Error;

const SETS: &str = "/apis/apps.kubewright.dev/v1beta1/namespaces/default/mydaemonsets";
const SET: &str = "/apis/apps.kubewright.dev/v1beta1/namespaces/default/mydaemonsets/sample";
const PODS: &str = "/api/v1/namespaces/default/pods";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const TIMEOUT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(200);

/// Creates nodes without kubelets, and the custom resource definition.
///
/// # Cancel safety
///
/// If the future is dropped, some of the objects exist.
pub(super) async fn prepare(client: &Client, operator: &Path, nodes: usize) -> Result<(), Error> {
    for number in 1..=nodes {
        let name = format!("node-{number}");
        let capacity = json!({"cpu": "16", "memory": "64Gi", "pods": "110"});
        let node = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "status": {"allocatable": capacity, "capacity": capacity},
        });
        call(client, Method::POST, "/api/v1/nodes", &node).await?;
    }
    let definition = definition(operator).await?;
    call(client, Method::POST, DEFINITIONS, &definition).await?;
    wait_until("the kind to be served", async || {
        call(client, Method::GET, SETS, &Value::Null).await.is_ok()
    })
    .await
}

/// Returns the custom resource definition that the operator prints.
async fn definition(operator: &Path) -> Result<Value, Error> {
    let command = format!("{} manifests", operator.display());
    let output = Command::new(operator)
        .arg("manifests")
        .stdin(Stdio::null())
        .output()
        .await
        .map_err(|source| Error::Spawn {
            command: command.clone(),
            source,
        })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let documents = yaml::documents(&text).unwrap_or_default();
    let found = documents
        .into_iter()
        .find(|document| document["kind"] == "CustomResourceDefinition");
    found.ok_or(Error::CommandFailed {
        command,
        status: output.status,
        tail: "the output has no CustomResourceDefinition".to_owned(),
    })
}

/// Creates a MyDaemonSet and waits until it has an available Pod on each node.
///
/// # Cancel safety
///
/// If the future is dropped, the set may exist.
pub(super) async fn roll_out(client: &Client, nodes: usize) -> Result<(), Error> {
    let set = json!({
        "apiVersion": "apps.kubewright.dev/v1beta1", "kind": "MyDaemonSet",
        "metadata": {"name": "sample"}, "spec": {"image": "registry.k8s.io/pause:3.10"},
    });
    call(client, Method::POST, SETS, &set).await?;
    wait_until("an available Pod on each node", async || {
        let set = call(client, Method::GET, SET, &Value::Null).await;
        set.is_ok_and(|set| set["status"]["availableReplicas"] == nodes)
    })
    .await
}

/// Deletes the MyDaemonSet and waits until its Pods are deleted.
///
/// # Cancel safety
///
/// If the future is dropped, some objects may be left.
pub(super) async fn clean(client: &Client) -> Result<(), Error> {
    call(client, Method::DELETE, SET, &Value::Null).await?;
    wait_until("the Pods to be deleted", async || {
        let pods = call(client, Method::GET, PODS, &Value::Null).await;
        pods.is_ok_and(|pods| pods["items"] == json!([]))
    })
    .await
}

async fn wait_until(condition: &str, is_met: impl AsyncFn() -> bool) -> Result<(), Error> {
    let start = Instant::now();
    while !is_met().await {
        if start.elapsed() > TIMEOUT {
            return Err(Error::WaitTimeout {
                condition: condition.to_owned(),
                timeout: TIMEOUT,
            });
        }
        sleep(POLL).await;
    }
    Ok(())
}

async fn call(client: &Client, method: Method, path: &str, body: &Value) -> Result<Value, Error> {
    let bytes = match body {
        Value::Null => Vec::new(),
        body => body.to_string().into_bytes(),
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json")
        .body(bytes)
        .expect("a path of letters and slashes is a valid request");
    client
        .request(request)
        .await
        .map_err(|source| Error::Request {
            path: path.to_owned(),
            source: Box::new(source),
        })
}

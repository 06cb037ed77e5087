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
const LIMIT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(200);

/// Adds nodes that are only objects, and the kind.
///
/// # Cancel safety
///
/// Dropped, some of it is there.
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
    until("the kind to be served", async || {
        call(client, Method::GET, SETS, &Value::Null).await.is_ok()
    })
    .await
}

/// The definition that the operator prints of its kind.
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
    found.ok_or(Error::Step {
        command,
        status: output.status,
        tail: "it printed no CustomResourceDefinition".to_owned(),
    })
}

/// Creates the set and waits until it has an available Pod on each node.
///
/// # Cancel safety
///
/// Dropped, the set may be there.
pub(super) async fn roll_out(client: &Client, nodes: usize) -> Result<(), Error> {
    let set = json!({
        "apiVersion": "apps.kubewright.dev/v1beta1", "kind": "MyDaemonSet",
        "metadata": {"name": "sample"}, "spec": {"image": "registry.k8s.io/pause:3.10"},
    });
    call(client, Method::POST, SETS, &set).await?;
    until("an available Pod on each node", async || {
        let set = call(client, Method::GET, SET, &Value::Null).await;
        set.is_ok_and(|set| set["status"]["availableReplicas"] == nodes)
    })
    .await
}

/// Deletes the set and waits until its Pods are gone.
///
/// # Cancel safety
///
/// Dropped, some of it may be left.
pub(super) async fn clean(client: &Client) -> Result<(), Error> {
    call(client, Method::DELETE, SET, &Value::Null).await?;
    until("the Pods to be gone", async || {
        let pods = call(client, Method::GET, PODS, &Value::Null).await;
        pods.is_ok_and(|pods| pods["items"] == json!([]))
    })
    .await
}

async fn until(what: &str, is_so: impl AsyncFn() -> bool) -> Result<(), Error> {
    let start = Instant::now();
    while !is_so().await {
        if start.elapsed() > LIMIT {
            return Err(Error::Late {
                what: what.to_owned(),
                limit: LIMIT,
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

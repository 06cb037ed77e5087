//! The write requests of the benchmark `cluster`.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use http::Request;
use kube::Client;
use serde_json::{Value, json};

use crate::error::Error;

/// The namespace of all objects.
pub(super) const NAMESPACE: &str = "bench-cluster";

/// The text in the template of a Pod that is replaced by its name.
const PLACEHOLDER: &str = "pod-name";

/// Returns a Pod of about 6 KB.
pub(super) fn pod(name: &str) -> Value {
    let variable = |number: u32| {
        let value = format!("https://service-{number}.example.com/api/v1/endpoint");
        json!({"name": format!("SETTING_NUMBER_{number}"), "value": value})
    };
    let container = |name: &str| {
        let variables: Vec<_> = (0..30).map(variable).collect();
        json!({
            "name": name,
            "image": format!("registry.example.com/team/{name}:1.2.3"),
            "args": ["--config=/etc/config/app.yaml", "--verbose"],
            "env": variables,
            "ports": [{"name": format!("{name}-http"), "containerPort": 8080}],
            "resources": {
                "requests": {"cpu": "100m", "memory": "128Mi"},
                "limits": {"cpu": "500m", "memory": "256Mi"},
            },
        })
    };
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {"app": "bench", "app.kubernetes.io/managed-by": "bench"},
        },
        "spec": {
            // No scheduler has this name, so only the API server is measured.
            "schedulerName": "none",
            "automountServiceAccountToken": false,
            "containers": [container("server"), container("proxy")],
        },
    })
}

/// Creates the namespace and its default service account.
pub(super) async fn prepare(client: &Client) -> Result<(), Error> {
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE},
    });
    post(client, "/api/v1/namespaces", &namespace).await?;
    let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts");
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"},
    });
    // A controller of the server may have created it already.
    match post(client, &path, &account).await {
        Err(Error::Request { source, .. }) if is_conflict(&source) => Ok(()),
        other => other,
    }
}

fn is_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409)
}

/// Creates the Pods with the numbers `from..to`, with all clients concurrently. The clients do little
/// work of their own, because they share the processors with the server.
pub(super) async fn create(clients: &[Client], from: u32, to: u32) -> Result<(), Error> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods");
    let text = pod(PLACEHOLDER).to_string();
    let requests = stream::iter((from..to).zip(clients.iter().cycle())).map(|(number, client)| {
        let (path, text) = (&path, &text);
        async move {
            let body = text.replacen(PLACEHOLDER, &format!("pod-{number}"), 1);
            send(client, path, body).await
        }
    });
    let mut responses = requests.buffer_unordered(clients.len().max(1));
    while responses.try_next().await?.is_some() {}
    Ok(())
}

/// Creates an object.
pub(super) async fn post(client: &Client, path: &str, object: &Value) -> Result<(), Error> {
    send(client, path, object.to_string()).await
}

async fn send(client: &Client, path: &str, body: String) -> Result<(), Error> {
    let request = Request::post(path)
        .header("content-type", "application/json")
        .body(body.into_bytes())
        .expect("a path of letters and slashes is a valid request");
    let response = client.request_text(request).await;
    response.map(drop).map_err(|source| Error::Request {
        path: path.to_owned(),
        source: Box::new(source),
    })
}

#[cfg(test)]
mod tests {
    use super::pod;

    #[test]
    fn pod_has_about_six_kilobytes() {
        let size = pod("pod-1").to_string().len();
        assert!((5000..7000).contains(&size), "{size}");
    }
}

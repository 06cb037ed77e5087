use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use http::Request;
use kube::Client;
use serde_json::{Value, json};

use crate::error::Error;

/// The namespace that everything is in.
pub(super) const NAMESPACE: &str = "bench-cluster";

/// What stands for the name of a Pod until it has one.
const PLACEHOLDER: &str = "pod-name";

/// A Pod of about 6 KB.
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
            // No scheduler looks for it: only the API server is measured.
            "schedulerName": "none",
            "automountServiceAccountToken": false,
            "containers": [container("server"), container("proxy")],
        },
    })
}

/// Makes the namespace, and the account that Pods of it run as.
pub(super) async fn prepare(client: &Client) -> Result<(), Error> {
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE},
    });
    post(client, "/api/v1/namespaces", &namespace).await?;
    let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts");
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"},
    });
    // Where a controller makes it, it may be there first.
    match post(client, &path, &account).await {
        Err(Error::Request { source, .. }) if is_conflict(&source) => Ok(()),
        other => other,
    }
}

fn is_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409)
}

/// Creates Pods with numbers from a range, with all clients at once. They share the processors
/// with the server, so that they do as little as they can.
pub(super) async fn create(clients: &[Client], from: u32, to: u32) -> Result<(), Error> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods");
    let text = pod(PLACEHOLDER).to_string();
    let one = |(index, number): (usize, u32)| {
        let client = clients.get(index % clients.len().max(1));
        let (path, text) = (&path, &text);
        async move {
            let Some(client) = client else {
                return Ok(());
            };
            let body = text.replacen(PLACEHOLDER, &format!("pod-{number}"), 1);
            send(client, path, body).await
        }
    };
    let requests = stream::iter((from..to).enumerate()).map(one);
    let mut answers = requests.buffer_unordered(clients.len().max(1));
    while answers.try_next().await?.is_some() {}
    Ok(())
}

pub(super) async fn post(client: &Client, path: &str, object: &Value) -> Result<(), Error> {
    send(client, path, object.to_string()).await
}

async fn send(client: &Client, path: &str, body: String) -> Result<(), Error> {
    let request = Request::post(path)
        .header("content-type", "application/json")
        .body(body.into_bytes())
        .expect("a path of letters and slashes is a valid request");
    let answer = client.request_text(request).await;
    answer.map(|_| ()).map_err(|source| Error::Request {
        path: path.to_owned(),
        source: Box::new(source),
    })
}

#[cfg(test)]
mod tests {
    use super::pod;

    #[test]
    fn a_pod_has_about_six_kilobytes() {
        let size = pod("pod-1").to_string().len();
        assert!((5000..7000).contains(&size), "{size}");
    }
}

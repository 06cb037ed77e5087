use std::time::Duration;

use http::Request;
use kube::Client;
use kubewright_core::Clock;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use crate::error::Error;

const NAMESPACE: &str = "bench-latency";
const SENT: &str = "bench.kubewright.dev/sent";
/// So long that each object is alone on its way.
const EVERY: Duration = Duration::from_millis(25);

/// Makes the namespace, where it is not there from an earlier run.
///
/// # Cancel safety
///
/// Dropped, it may be there.
pub(super) async fn prepare(client: &Client) -> Result<(), Error> {
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE},
    });
    match send(client, "/api/v1/namespaces", &namespace).await {
        Err(Error::Request { source, .. }) if matches!(&*source, kube::Error::Api(status) if status.code == 409) => {
            Ok(())
        }
        other => other,
    }
}

/// Creates so many objects, one after the other, each with the time at which it was sent.
///
/// # Cancel safety
///
/// Dropped, some of them are there.
pub(super) async fn create(client: &Client, run: &str, count: u32) -> Result<(), Error> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    let start = Instant::now();
    for number in 0..count {
        sleep_until(start + EVERY * number).await;
        let now = Clock::system().now().as_nanosecond().to_string();
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": format!("{run}-{number}"), "annotations": {SENT: now}},
            "data": {"text": "a few words, as configuration has them"},
        });
        send(client, &path, &object).await?;
    }
    Ok(())
}

/// Removes what the run has created, so that the next one begins with as little.
///
/// # Cancel safety
///
/// Dropped, some may be left.
pub(super) async fn clean(client: &Client) -> Result<(), Error> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    let request = Request::delete(&path).body(Vec::new());
    let request = request.expect("a path of letters and slashes is a valid request");
    let answer = client.request::<IgnoredAny>(request).await;
    answer.map(|_| ()).map_err(|source| failed(&path, source))
}

async fn send(client: &Client, path: &str, object: &Value) -> Result<(), Error> {
    let request = Request::post(path)
        .header("content-type", "application/json")
        .body(object.to_string().into_bytes())
        .expect("a path of letters and slashes is a valid request");
    let answer = client.request::<IgnoredAny>(request).await;
    answer.map(|_| ()).map_err(|source| failed(path, source))
}

fn failed(path: &str, source: kube::Error) -> Error {
    Error::Request {
        path: path.to_owned(),
        source: Box::new(source),
    }
}

//! The objects of the benchmark `latency`.

use std::time::Duration;

use http::Request;
use kube::Client;
use kubewright_core::Clock;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use crate::error::Error;

const NAMESPACE: &str = "bench-latency";
/// The annotation with the time of the create request.
const SENT: &str = "bench.kubewright.dev/sent";
/// Long enough for an object to be reconciled before the next one is created.
const INTERVAL: Duration = Duration::from_millis(25);

/// Creates the namespace unless it exists from an earlier run.
///
/// # Cancel safety
///
/// If the future is dropped, the namespace may exist.
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

/// Creates `count` objects at intervals, each with the time of its create request.
///
/// # Cancel safety
///
/// If the future is dropped, some of the objects exist.
pub(super) async fn create(client: &Client, run: &str, count: u32) -> Result<(), Error> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    let start = Instant::now();
    for number in 0..count {
        sleep_until(start + INTERVAL * number).await;
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

/// Deletes the objects of a run, so that the next run starts without objects.
///
/// # Cancel safety
///
/// If the future is dropped, some objects may be left.
pub(super) async fn clean(client: &Client) -> Result<(), Error> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    let request = Request::delete(&path)
        .body(Vec::new())
        .expect("a path of letters and slashes is a valid request");
    let response = client.request::<IgnoredAny>(request).await;
    response.map(drop).map_err(|source| failed(&path, source))
}

async fn send(client: &Client, path: &str, object: &Value) -> Result<(), Error> {
    let request = Request::post(path)
        .header("content-type", "application/json")
        .body(object.to_string().into_bytes())
        .expect("a path of letters and slashes is a valid request");
    let response = client.request::<IgnoredAny>(request).await;
    response.map(drop).map_err(|source| failed(path, source))
}

fn failed(path: &str, source: kube::Error) -> Error {
    Error::Request {
        path: path.to_owned(),
        source: Box::new(source),
    }
}

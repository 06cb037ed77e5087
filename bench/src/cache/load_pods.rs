//! Creates the Pods of the benchmark `cache`.

use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use http::Request;
use kube::Client;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::pods::{NAMESPACE, Pods};
use crate::error::Error;
use crate::output;

/// The number of concurrent requests.
const CONCURRENCY: usize = 16;
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Creates Pods and their namespace.
///
/// # Cancel safety
///
/// If the future is dropped, some of the Pods exist.
pub(super) async fn load_pods(client: &Client, count: u32) -> Result<(), Error> {
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE},
    });
    create(client, "/api/v1/namespaces", NAMESPACE, &namespace).await?;
    // No controller runs here that creates it, and admission of Pods can require it.
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"},
    });
    let accounts = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts");
    create(client, &accounts, "default", &account).await?;
    let pods = Pods::new();
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods");
    let start = Instant::now();
    let mut last_progress = start;
    let mut created: u32 = 0;
    let requests = stream::iter(0..count).map(|index| {
        let (name, pod) = pods.pod(index);
        let path = &path;
        async move { create(client, path, &name, &pod).await }
    });
    let mut responses = requests.buffer_unordered(CONCURRENCY);
    while responses.try_next().await?.is_some() {
        created += 1;
        if last_progress.elapsed() >= PROGRESS_INTERVAL || created == count {
            last_progress = Instant::now();
            let seconds = start.elapsed().as_secs_f64();
            let rate = f64::from(created) / seconds.max(0.001);
            output::note(&format!("load: {created} of {count} Pods, {rate:.0}/s"));
        }
    }
    Ok(())
}

async fn create(client: &Client, path: &str, name: &str, object: &Value) -> Result<(), Error> {
    let request = Request::post(format!("{path}?fieldManager=kubewright-bench"))
        .header("content-type", "application/json")
        .body(object.to_string().into_bytes())
        .expect("a path of lower-case letters and slashes is a valid request");
    let response = client.request::<IgnoredAny>(request).await;
    response.map(drop).map_err(|error| Error::Load {
        name: name.to_owned(),
        source: Box::new(error),
    })
}

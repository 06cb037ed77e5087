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

/// Requests under way at once.
const WRITERS: usize = 16;
const NOTE_EVERY: Duration = Duration::from_secs(10);

/// Creates so many Pods, and the namespace they are in.
///
/// # Cancel safety
///
/// Dropping the future leaves the Pods created so far.
pub(super) async fn load(client: &Client, count: u32) -> Result<(), Error> {
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE},
    });
    create(client, "/api/v1/namespaces", NAMESPACE, &namespace).await?;
    // Nobody else makes it here, and an API server may ask for it.
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"},
    });
    let accounts = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts");
    create(client, &accounts, "default", &account).await?;
    let pods = Pods::new();
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods");
    let start = Instant::now();
    let mut noted = start;
    let mut created: u32 = 0;
    let requests = stream::iter(0..count).map(|index| {
        let (name, pod) = pods.pod(index);
        let path = &path;
        async move { create(client, path, &name, &pod).await }
    });
    let mut answers = requests.buffer_unordered(WRITERS);
    while answers.try_next().await?.is_some() {
        created += 1;
        if noted.elapsed() >= NOTE_EVERY || created == count {
            noted = Instant::now();
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
    let answer = client.request::<IgnoredAny>(request).await;
    answer.map(|_| ()).map_err(|error| Error::Load {
        name: name.to_owned(),
        source: Box::new(error),
    })
}

//! Measures a running API server.

use std::time::Duration;

use futures_util::{AsyncBufReadExt as _, TryStreamExt as _};
use http::Request;
use kube::Client;
use kubewright_bench_subject::median;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::requests::{NAMESPACE, create, post, prepare};
use super::running_server::RunningServer;
use crate::command::ClusterOptions;
use crate::error::Error;
use crate::output;
use crate::process::{processor_time, resident_mb};

/// The number of concurrent clients.
const CLIENTS: usize = 32;
/// The number of watches that receive a write.
const WATCHERS: usize = 100;
/// How many times lists and writes with watches are measured.
const ROUNDS: usize = 5;

/// The measurements of a server, in the order of the columns of the table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub(super) ready_ms: f64,
    pub(super) first_request_ms: Option<f64>,
    pub(super) idle_mb: f64,
    pub(super) creates_per_s: f64,
    pub(super) cpu_us: f64,
    pub(super) list_ms: f64,
    pub(super) fanout_ms: f64,
}

/// Measures a server that was just started.
pub(super) async fn measure(
    server: &RunningServer,
    options: &ClusterOptions,
) -> Result<Figures, Error> {
    let client = server.client().await?;
    discover_and_list(&client).await?;
    let idle_mb = resident_mb(server.processes());
    prepare(&client).await?;
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(server.client().await?);
    }
    // The connections are open before the measurement starts.
    let warm_up = u32::try_from(CLIENTS).unwrap_or(u32::MAX) * 2;
    create(&clients, 0, warm_up).await?;
    let (start, processor_start) = (Instant::now(), processor_time(server.processes()));
    create(&clients, warm_up, warm_up + options.creates).await?;
    let elapsed = start.elapsed();
    let processor = processor_time(server.processes()).saturating_sub(processor_start);
    output::note(&format!(
        "{} Pods created in {elapsed:.1?}",
        options.creates
    ));
    let created = warm_up + options.creates;
    create(&clients, created, options.objects.max(created)).await?;
    Ok(Figures {
        ready_ms: milliseconds(server.ready),
        first_request_ms: None,
        idle_mb,
        creates_per_s: f64::from(options.creates) / elapsed.as_secs_f64(),
        cpu_us: processor.as_secs_f64() * 1e6 / f64::from(options.creates),
        list_ms: list(&client).await?,
        fanout_ms: fan_out(server).await?,
    })
}

/// Requests the discovery documents once, and lists every kind once.
async fn discover_and_list(client: &Client) -> Result<(), Error> {
    let get = async |path: &str| -> Result<Value, Error> {
        let request = Request::get(path)
            .body(Vec::new())
            .expect("a path of letters and slashes is a valid request");
        client
            .request::<Value>(request)
            .await
            .map_err(|source| Error::Request {
                path: path.to_owned(),
                source: Box::new(source),
            })
    };
    let groups = get("/apis").await?;
    let mut versions = vec!["/api/v1".to_owned()];
    for group in groups["groups"].as_array().into_iter().flatten() {
        let version = group["preferredVersion"]["groupVersion"].as_str();
        versions.push(format!("/apis/{}", version.unwrap_or_default()));
    }
    for version in versions {
        let found = get(&version).await?;
        for resource in found["resources"].as_array().into_iter().flatten() {
            let verbs = resource["verbs"].as_array();
            let is_listed = verbs.is_some_and(|verbs| verbs.iter().any(|verb| verb == "list"));
            let name = resource["name"].as_str().unwrap_or_default();
            // A kind that the embedded server does not implement is skipped.
            if is_listed && let Err(error) = get(&format!("{version}/{name}")).await {
                output::note(&format!("list {name}: {error}"));
            }
        }
    }
    Ok(())
}

/// Returns the median time of a list of all Pods.
async fn list(client: &Client) -> Result<f64, Error> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods");
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let request = Request::get(&path)
            .body(Vec::new())
            .expect("a path of letters and slashes is a valid request");
        let start = Instant::now();
        let text = client
            .request_text(request)
            .await
            .map_err(|source| Error::Request {
                path: path.clone(),
                source: Box::new(source),
            })?;
        times.push(milliseconds(start.elapsed()));
        output::note(&format!("list: {} bytes", text.len()));
    }
    Ok(median(&times).unwrap_or_default())
}

/// Returns the median time from a write to the event of the last watcher.
async fn fan_out(server: &RunningServer) -> Result<f64, Error> {
    let writer = server.client().await?;
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let mut watchers = JoinSet::new();
        let name = format!("fanout-{round}");
        for _ in 0..WATCHERS {
            let client = server.client().await?;
            let (path, name) = (path.clone(), name.clone());
            let (sender, opened) = tokio::sync::oneshot::channel();
            watchers.spawn(async move { watch_for(&client, &path, &name, sender).await });
            // All watches are open before the measurement starts.
            if opened.await.is_err() {
                return Err(Error::WatchEnded);
            }
        }
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        let start = Instant::now();
        post(&writer, &path, &map).await?;
        while let Some(ended) = watchers.join_next().await {
            ended.unwrap_or(Err(Error::WatchEnded))?;
        }
        times.push(milliseconds(start.elapsed()));
    }
    Ok(median(&times).unwrap_or_default())
}

/// Opens a watch, sends on `opened`, and returns after the event of the named object.
async fn watch_for(
    client: &Client,
    path: &str,
    name: &str,
    opened: tokio::sync::oneshot::Sender<()>,
) -> Result<(), Error> {
    let failed = |source: kube::Error| Error::Request {
        path: path.to_owned(),
        source: Box::new(source),
    };
    let request = Request::get(format!("{path}?watch=1"))
        .body(Vec::new())
        .expect("a path of letters and slashes is a valid request");
    let stream = client.request_stream(request).await.map_err(failed)?;
    if opened.send(()).is_err() {
        return Err(Error::WatchEnded);
    }
    let mut lines = stream.lines();
    let expected = format!("\"name\":\"{name}\"");
    loop {
        match lines.try_next().await {
            Ok(Some(line)) if line.contains(&expected) => return Ok(()),
            Ok(Some(_)) => {}
            _ => return Err(Error::WatchEnded),
        }
    }
}

/// Converts a duration to milliseconds.
pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

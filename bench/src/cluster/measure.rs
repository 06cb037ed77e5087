use std::time::Duration;

use futures_util::{AsyncBufReadExt as _, TryStreamExt as _};
use http::Request;
use kube::Client;
use kubewright_bench_subject::median;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::load::{NAMESPACE, create, post, prepare};
use super::subject::Started;
use crate::command::ClusterOptions;
use crate::error::Error;
use crate::output;
use crate::process::{processor_time, resident_mb};

/// Clients that write at once.
const CLIENTS: usize = 32;
/// Watches that one write goes out to.
const WATCHERS: usize = 100;
/// How often lists and writes to watches are timed.
const ROUNDS: usize = 5;

/// What was measured of a server, in the order of the table's columns.
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

/// Measures a server that has just been started.
pub(super) async fn measure(server: &Started, options: &ClusterOptions) -> Result<Figures, Error> {
    let client = server.client().await?;
    look_around(&client).await?;
    let idle_mb = resident_mb(server.processes());
    prepare(&client).await?;
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(server.client().await?);
    }
    // Connections are made before the clock starts.
    let warm_up = u32::try_from(CLIENTS).unwrap_or(u32::MAX) * 2;
    create(&clients, 0, warm_up).await?;
    let (start, used) = (Instant::now(), processor_time(server.processes()));
    create(&clients, warm_up, warm_up + options.creates).await?;
    let (took, used) = (
        start.elapsed(),
        processor_time(server.processes()).saturating_sub(used),
    );
    output::note(&format!("{} Pods created in {took:.1?}", options.creates));
    let there = warm_up + options.creates;
    create(&clients, there, options.objects.max(there)).await?;
    Ok(Figures {
        ready_ms: milliseconds(server.ready),
        first_request_ms: None,
        idle_mb,
        creates_per_s: f64::from(options.creates) / took.as_secs_f64(),
        cpu_us: used.as_secs_f64() * 1e6 / f64::from(options.creates),
        list_ms: list(&client).await?,
        fanout_ms: fan_out(server).await?,
    })
}

/// One discovery, and one list of every kind.
async fn look_around(client: &Client) -> Result<(), Error> {
    let get = async |path: &str| -> Result<Value, Error> {
        let request = Request::get(path).body(Vec::new());
        let request = request.expect("a path of letters and slashes is a valid request");
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
            // What is not implemented says so, and is passed over.
            if is_listed && let Err(error) = get(&format!("{version}/{name}")).await {
                output::note(&format!("list {name}: {error}"));
            }
        }
    }
    Ok(())
}

async fn list(client: &Client) -> Result<f64, Error> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods");
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let request = Request::get(&path).body(Vec::new());
        let request = request.expect("a path of letters and slashes is a valid request");
        let start = Instant::now();
        let text = client.request_text(request).await;
        let text = text.map_err(|source| Error::Request {
            path: path.clone(),
            source: Box::new(source),
        })?;
        times.push(milliseconds(start.elapsed()));
        output::note(&format!("list: {} bytes", text.len()));
    }
    Ok(median(&times).unwrap_or_default())
}

/// The time from a write to the last watcher's event of it.
async fn fan_out(server: &Started) -> Result<f64, Error> {
    let writer = server.client().await?;
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let mut watchers = JoinSet::new();
        let name = format!("news-{round}");
        for _ in 0..WATCHERS {
            let client = server.client().await?;
            let (path, name) = (path.clone(), name.clone());
            let (open, opened) = tokio::sync::oneshot::channel();
            watchers.spawn(async move { watch_for(&client, &path, &name, open).await });
            // All watches are open before the clock starts.
            if opened.await.is_err() {
                return Err(Error::WatchEnded);
            }
        }
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        let start = Instant::now();
        post(&writer, &path, &map).await?;
        while let Some(seen) = watchers.join_next().await {
            seen.unwrap_or(Err(Error::WatchEnded))?;
        }
        times.push(milliseconds(start.elapsed()));
    }
    Ok(median(&times).unwrap_or_default())
}

/// Opens a watch, says so, and ends with the event of the named object.
async fn watch_for(
    client: &Client,
    path: &str,
    name: &str,
    open: tokio::sync::oneshot::Sender<()>,
) -> Result<(), Error> {
    let failed = |source: kube::Error| Error::Request {
        path: path.to_owned(),
        source: Box::new(source),
    };
    let request = Request::get(format!("{path}?watch=1")).body(Vec::new());
    let request = request.expect("a path of letters and slashes is a valid request");
    let stream = client.request_stream(request).await.map_err(failed)?;
    if open.send(()).is_err() {
        return Err(Error::WatchEnded);
    }
    let mut lines = stream.lines();
    let wanted = format!("\"name\":\"{name}\"");
    loop {
        match lines.try_next().await {
            Ok(Some(line)) if line.contains(&wanted) => return Ok(()),
            Ok(Some(_)) => {}
            _ => return Err(Error::WatchEnded),
        }
    }
}

pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

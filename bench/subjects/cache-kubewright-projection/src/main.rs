//! The subject of the benchmark `cache` for a projection: an informer with seven fields per object.
//!
//! The struct below is the whole projection. All options have their defaults, and the allocator is
//! the one recommended for operators.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use kubewright_bench_subject::{
    Arguments, CHECKSUM_MASK, CachedPods, Error, Listed, Measurement, Metric, Tally, chain,
    checksum, measure_cache,
};
use kubewright_core::{Kind, ObjectKey, Resource, Scope};
use kubewright_runtime::cache::View;
use kubewright_runtime::client::{connect, load_config};
use kubewright_runtime::informer::{
    InformerOptions, InformerSpec, Informers, Notification, Subscription,
};
use serde::Deserialize;

#[global_allocator]
static ALLOCATOR: kubewright::Allocator = kubewright::Allocator;

const NAME: &str = "cache-kubewright-projection";
const SYNC_TIMEOUT: Duration = Duration::from_secs(600);

#[derive(Deserialize)]
struct Pod {
    metadata: Metadata,
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    namespace: String,
    name: String,
    #[serde(default)]
    uid: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    scheduler_name: Option<String>,
    containers: Vec<Container>,
}

#[derive(Deserialize)]
struct Container {
    image: Option<String>,
}

#[derive(Default, Deserialize)]
struct Status {
    phase: Option<String>,
}

impl Pod {
    fn checksum(&self) -> u64 {
        let image = self
            .spec
            .containers
            .first()
            .and_then(|container| container.image.as_deref());
        let app = self.metadata.labels.get("app");
        checksum([
            self.metadata.namespace.as_str(),
            self.metadata.name.as_str(),
            self.metadata.uid.as_str(),
            self.spec.scheduler_name.as_deref().unwrap_or_default(),
            image.unwrap_or_default(),
            app.map(String::as_str).unwrap_or_default(),
            self.status.phase.as_deref().unwrap_or_default(),
        ])
    }
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("connect to the cluster")]
    Client(#[from] kubewright_runtime::Error),
    #[error("read {expected} Pods: read only {read} within {SYNC_TIMEOUT:?}")]
    Timeout { expected: usize, read: Listed },
    #[error("measure the cache")]
    Measure(#[from] Error),
}

struct Cache(View<Pod>);

impl CachedPods for Cache {
    type Key = ObjectKey;
    type Object = Arc<Pod>;

    fn get(&self, key: &ObjectKey) -> Result<Option<Arc<Pod>>, Error> {
        self.0.get(key).map_err(|error| Error::Read {
            what: key.to_string(),
            source: error.into(),
        })
    }

    fn list(&self) -> Result<Listed, Error> {
        let mut listed = Listed::default();
        for pod in &self.0.list() {
            listed.objects += 1;
            listed.checksum = listed.checksum.wrapping_add(pod.checksum()) & CHECKSUM_MASK;
        }
        Ok(listed)
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::read();
    match run(&arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            report_error(&chain(&failure));
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let config = load_config(arguments.kubeconfig.as_deref()).await?;
    let client = connect(config, NAME)?;
    let informers = Informers::new(client, InformerOptions::default());
    let pods = Resource::new(Kind::new("", "v1", "Pod"), "pods", Scope::Namespaced);
    let cache = Cache(informers.view(&InformerSpec::all(pods)));
    let mut tally = Tally::new(arguments.objects);
    let mut changes = cache.0.informer().subscribe();
    let reading = read_all(&cache, &mut changes, &mut tally);
    let waited = tokio::time::timeout(SYNC_TIMEOUT, reading).await;
    let seconds = arguments.elapsed();
    if waited.is_err() {
        let (expected, read) = (arguments.objects, tally.read());
        return Err(Failure::Timeout { expected, read });
    }
    Measurement::cost(Metric::Seconds, seconds)?.print()?;
    let (keys, read) = tally.finish();
    measure_cache(&cache, &keys, read, arguments.settle).await?;
    informers.shutdown().await;
    Ok(())
}

/// Reads the object of every event until all objects were read.
async fn read_all(cache: &Cache, changes: &mut Subscription, tally: &mut Tally<ObjectKey>) {
    while let Some(notification) = changes.next().await {
        let Notification::Change(event) = notification else {
            continue;
        };
        // If the object is never read, the tally stays incomplete and the timeout ends the subject.
        let Ok(Some(pod)) = cache.get(&event.key) else {
            continue;
        };
        if tally.note_sum(event.key, pod.checksum()) {
            return;
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "the harness prints it when the subject fails"
)]
fn report_error(text: &str) {
    eprintln!("{NAME}: {text}");
}

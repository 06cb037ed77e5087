//! The benchmark `cache` on an informer that keeps seven fields of each object.
//!
//! The struct below is all that there is to a projection. Everything else stands at its default,
//! with the allocator that operators are advised to use.

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
const SYNC_LIMIT: Duration = Duration::from_secs(600);

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
            .and_then(|one| one.image.as_deref());
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
    #[error("reach the cluster")]
    Client(#[from] kubewright_runtime::Error),
    #[error("read {expected} Pods: after {SYNC_LIMIT:?} only {read} were read")]
    Slow { expected: usize, read: Listed },
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
            complain(&chain(&failure));
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
    let waited = tokio::time::timeout(SYNC_LIMIT, reading).await;
    let seconds = arguments.elapsed();
    if waited.is_err() {
        let (expected, read) = (arguments.objects, tally.read());
        return Err(Failure::Slow { expected, read });
    }
    Measurement::cost(Metric::Seconds, seconds)?.print()?;
    let (keys, read) = tally.finish();
    measure_cache(&cache, &keys, read, arguments.settle).await?;
    informers.shutdown().await;
    Ok(())
}

/// Reads each object that is told of, until all were read.
async fn read_all(cache: &Cache, changes: &mut Subscription, tally: &mut Tally<ObjectKey>) {
    while let Some(notice) = changes.next().await {
        let Notification::Change(event) = notice else {
            continue;
        };
        // One that is not read is missed at the end.
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
    reason = "the harness shows it when the subject fails"
)]
fn complain(text: &str) {
    eprintln!("{NAME}: {text}");
}

//! The subject of the benchmark `cache` for kube-runtime: its Controller and its store.
//!
//! All options have their defaults. The reconciler reads the object that kube passes to it. Reads of
//! the store clone the object, because it is shared with the store.

use std::convert::Infallible;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::watcher;
use kube::{Api, Client, Config};
use kubewright_bench_subject::{
    Arguments, CHECKSUM_MASK, CachedPods, Error, Listed, Measurement, Metric, Tally, chain,
    measure_cache, pod_checksum,
};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::task::JoinSet;

const SYNC_TIMEOUT: Duration = Duration::from_secs(600);

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("read the kubeconfig: set --kubeconfig or KUBECONFIG")]
    Kubeconfig(#[source] kube::config::KubeconfigError),
    #[error("build a client from the kubeconfig")]
    Client(#[source] kube::Error),
    #[error("read {expected} Pods: read only {read} within {SYNC_TIMEOUT:?}")]
    Timeout { expected: usize, read: Listed },
    #[error("measure the cache")]
    Measure(#[from] Error),
}

#[derive(Debug)]
struct Progress {
    tally: Mutex<Tally<ObjectRef<Pod>>>,
    complete: Notify,
}

async fn reconcile(pod: Arc<Pod>, progress: Arc<Progress>) -> Result<Action, Infallible> {
    let key = ObjectRef::from_obj(pod.as_ref());
    if progress.tally.lock().note(key, &pod) {
        progress.complete.notify_one();
    }
    Ok(Action::await_change())
}

struct KubeStore(Store<Pod>);

impl CachedPods for KubeStore {
    type Key = ObjectRef<Pod>;
    type Object = Pod;

    fn get(&self, key: &Self::Key) -> Result<Option<Pod>, Error> {
        Ok(self.0.get(key).map(Arc::unwrap_or_clone))
    }

    fn list(&self) -> Result<Listed, Error> {
        let mut listed = Listed::default();
        for shared in self.0.state() {
            let pod = Pod::clone(&shared);
            listed.objects += 1;
            listed.checksum = listed.checksum.wrapping_add(pod_checksum(&pod)) & CHECKSUM_MASK;
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
            eprintln!("cache-kube: {}", chain(&failure));
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let api: Api<Pod> = Api::all(client(arguments).await?);
    let controller = Controller::new(api, watcher::Config::default());
    let store = KubeStore(controller.store());
    let progress = Arc::new(Progress {
        tally: Mutex::new(Tally::new(arguments.objects)),
        complete: Notify::new(),
    });
    let retry = |_: Arc<Pod>, error: &Infallible, _| match *error {};
    let reconciled = controller.run(reconcile, retry, Arc::clone(&progress));
    let mut tasks = JoinSet::new();
    tasks.spawn(reconciled.for_each(|_| async {}));

    let waited = tokio::time::timeout(SYNC_TIMEOUT, progress.complete.notified()).await;
    let seconds = arguments.elapsed();
    let tally = std::mem::replace(&mut *progress.tally.lock(), Tally::new(0));
    if waited.is_err() {
        let (expected, read) = (arguments.objects, tally.read());
        return Err(Failure::Timeout { expected, read });
    }
    Measurement::cost(Metric::Seconds, seconds)?.print()?;
    let (keys, read) = tally.finish();
    measure_cache(&store, &keys, read, arguments.settle).await?;
    tasks.shutdown().await;
    Ok(())
}

async fn client(arguments: &Arguments) -> Result<Client, Failure> {
    let read = match &arguments.kubeconfig {
        Some(path) => Kubeconfig::read_from(path),
        None => Kubeconfig::read(),
    };
    let kubeconfig = read.map_err(Failure::Kubeconfig)?;
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    Client::try_from(config.map_err(Failure::Kubeconfig)?).map_err(Failure::Client)
}

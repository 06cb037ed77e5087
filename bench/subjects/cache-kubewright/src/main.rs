//! The subject of the benchmark `cache` for kubewright: an Operator with one controller.
//!
//! All options have their defaults, and the allocator is the one recommended for operators. Reads go
//! through the context that is passed to a reconcile function.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kubewright::{Context, Controller, ObjectKey, Operator, Outcome, RunOptions};
use kubewright_bench_subject::{
    Arguments, CHECKSUM_MASK, CachedPods, Error, Listed, Measurement, Metric, Tally, chain,
    measure_cache, pod_checksum,
};
use kubewright_runtime::client::{connect, load_config};
use kubewright_runtime::record::Record;
use parking_lot::Mutex;
use tokio::sync::oneshot;

#[global_allocator]
static ALLOCATOR: kubewright::Allocator = kubewright::Allocator;

const NAME: &str = "cache-kubewright";
/// The index by name. It is added after the objects were reconciled.
const BY_NAME: &str = "name";
const SYNC_TIMEOUT: Duration = Duration::from_secs(600);

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("connect to the cluster")]
    Client(#[from] kubewright_runtime::Error),
    #[error("start the operator")]
    Start(#[from] kubewright::Error),
    #[error("read {expected} Pods: read only {read} within {SYNC_TIMEOUT:?}")]
    Timeout { expected: usize, read: Listed },
    #[error("measure the cache")]
    Measure(#[from] Error),
}

/// The objects that the reconciler has read, and the sender for the end.
#[derive(Debug)]
struct Progress {
    tally: Tally<ObjectKey>,
    complete: Option<oneshot::Sender<Context<Pod>>>,
}

type SharedProgress = Mutex<Progress>;

async fn reconcile(
    progress: Arc<SharedProgress>,
    pod: Arc<Pod>,
    cx: Context<Pod>,
) -> kubewright::Result<Outcome> {
    let mut progress = progress.lock();
    if progress.tally.note(cx.key().clone(), &pod)
        && let Some(complete) = progress.complete.take()
    {
        // The receiver is gone after the timeout.
        complete.send(cx).ok();
    }
    Ok(Outcome::done())
}

/// The cache through the context of a reconcile function.
struct Cache(Context<Pod>);

impl CachedPods for Cache {
    type Key = ObjectKey;
    type Object = Arc<Pod>;

    fn get(&self, key: &ObjectKey) -> Result<Option<Arc<Pod>>, Error> {
        self.0.get::<Pod>(key).map_err(|error| Error::Read {
            what: key.to_string(),
            source: error.to_string().into(),
        })
    }

    fn find(&self, key: &ObjectKey) -> Result<Option<usize>, Error> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| Error::Read {
            what: key.to_string(),
            source,
        };
        let informer = self
            .0
            .informer::<Pod>()
            .map_err(|error| failed(error.to_string().into()))?;
        let found = informer.store().by_index(BY_NAME, key.name());
        Ok(Some(found.map_err(|error| failed(error.into()))?.len()))
    }

    fn list(&self) -> Result<Listed, Error> {
        let pods = self.0.list::<Pod>().map_err(|error| Error::Read {
            what: "all Pods".to_owned(),
            source: error.to_string().into(),
        })?;
        let mut listed = Listed::default();
        for pod in &pods {
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
            report_error(&chain(&failure));
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let config = load_config(arguments.kubeconfig.as_deref()).await?;
    let client = connect(config, NAME)?;
    let (complete, completed) = oneshot::channel();
    let progress = Arc::new(SharedProgress::new(Progress {
        tally: Tally::new(arguments.objects),
        complete: Some(complete),
    }));
    let controller = Controller::with(Arc::clone(&progress), reconcile);
    let running = Operator::new(NAME)
        .controller(controller)
        .start(client, RunOptions::default())?;

    let waited = tokio::time::timeout(SYNC_TIMEOUT, completed).await;
    let seconds = arguments.elapsed();
    let tally = std::mem::replace(&mut progress.lock().tally, Tally::new(0));
    let Ok(Ok(cx)) = waited else {
        let (expected, read) = (arguments.objects, tally.read());
        return Err(Failure::Timeout { expected, read });
    };
    Measurement::cost(Metric::Seconds, seconds)?.print()?;
    let (keys, read) = tally.finish();
    if let Ok(informer) = cx.informer::<Pod>() {
        let by_name = |record: &Record| vec![record.name().to_owned()];
        informer.store().add_index(BY_NAME, Arc::new(by_name));
    }
    measure_cache(&Cache(cx), &keys, read, arguments.settle).await?;
    running.stop().await;
    Ok(())
}

#[expect(
    clippy::print_stderr,
    reason = "the harness prints it when the subject fails"
)]
fn report_error(text: &str) {
    eprintln!("{NAME}: {text}");
}

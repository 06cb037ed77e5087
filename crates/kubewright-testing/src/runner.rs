use std::panic::{AssertUnwindSafe, Location, resume_unwind};

use futures_util::FutureExt as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::time::uptime;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::cluster::{Capability, Chain, Cluster, Skip, fail};
use crate::progress::{note, say};
use crate::{Choice, Error, NodeChoice, Settings};

/// What `#[kubewright_testing::test]` knows about a test.
#[derive(Clone, Copy, Debug)]
pub struct TestCase {
    /// The test's path, as libtest prints it.
    pub name: &'static str,
    /// The cluster it insists on; otherwise the environment chooses.
    pub cluster: Option<Choice>,
    /// How many nodes its cluster has.
    pub nodes: usize,
    /// What it needs of its cluster.
    pub needs: &'static [Capability],
}

/// What a test function may return.
pub trait TestOutcome {
    /// The value of a test that was not run.
    fn skipped() -> Self;
    /// Whether the test failed by what it returned.
    fn is_failure(&self) -> bool;
}

impl TestOutcome for () {
    fn skipped() -> Self {}

    fn is_failure(&self) -> bool {
        false
    }
}

impl<T: TestOutcome, E> TestOutcome for Result<T, E> {
    fn skipped() -> Self {
        Ok(T::skipped())
    }

    fn is_failure(&self) -> bool {
        self.as_ref().map_or(true, TestOutcome::is_failure)
    }
}

/// Runs a test on its cluster: what `#[kubewright_testing::test]` expands to.
///
/// # Panics
///
/// When the test does, when its cluster cannot be had, and when the operator under test was
/// refused something.
#[track_caller]
pub fn run<R: TestOutcome>(case: &TestCase, body: impl AsyncFnOnce(Cluster) -> R) -> R {
    let location = Location::caller();
    let settings = match Settings::from_environment() {
        Ok(settings) => settings,
        Err(error) => fail(location, Chain(&error)),
    };
    let choice = case.cluster.unwrap_or(settings.cluster);
    let present = Capability::of(choice);
    let missing = case.needs.iter().find(|need| !present.contains(need));
    if let Some(missing) = missing {
        say(format_args!(
            "skipped {}: the {choice} cluster lacks {missing}",
            case.name
        ));
        return R::skipped();
    }
    if choice == Choice::Existing && case.nodes > 0 && settings.nodes == NodeChoice::Kept {
        say(format_args!(
            "skipped {}: an existing cluster keeps the nodes that it has",
            case.name
        ));
        return R::skipped();
    }
    log_with_the_test(settings.log.as_deref());
    let runtime = match runtime(choice) {
        Ok(runtime) => runtime,
        Err(error) => fail(location, format_args!("start a runtime: {error}")),
    };
    runtime.block_on(async {
        match start(case, choice).await {
            Ok(Some(cluster)) => run_on(case, &cluster, location, body).await,
            Ok(None) => R::skipped(),
            Err(error) => fail(location, Chain(&error)),
        }
    })
}

async fn start(case: &TestCase, choice: Choice) -> Result<Option<Cluster>, Error> {
    let builder = match choice {
        Choice::Embedded => Cluster::embedded(),
        // What the embedded cluster does by itself, a real one does by its controllers.
        Choice::Real => Cluster::real().controllers(),
        Choice::Existing => Cluster::existing(),
    };
    let name = case.name.rsplit("::").next().unwrap_or(case.name);
    builder.named(name).nodes(case.nodes).start_or_skip().await
}

async fn run_on<R: TestOutcome>(
    case: &TestCase,
    cluster: &Cluster,
    location: &Location<'_>,
    body: impl AsyncFnOnce(Cluster) -> R,
) -> R {
    cluster.understand_skips();
    let body = AssertUnwindSafe(body(cluster.clone())).catch_unwind();
    let result = tokio::select! {
        biased;
        result = body => result,
        // It may wait for something that comes with time, which does not pass in a loop.
        found = cluster.reconcile_loop() => {
            std::panic::catch_unwind(AssertUnwindSafe(|| fail(location, found)))
        }
    };
    let unmoved = cluster.unmoved();
    if !unmoved.is_empty() {
        say(format_args!("{}: {unmoved}", case.name));
    }
    let ended = cluster.finish().await;
    let result = match result {
        Err(panic) => match panic.downcast::<Skip>() {
            Ok(skip) => {
                say(format_args!("skipped {}: {}", case.name, skip.0));
                Ok(R::skipped())
            }
            Err(panic) => Err(panic),
        },
        result => result,
    };
    // A test that failed by itself fails for its own reason; what it was refused may be why.
    if let Err(error) = ended {
        match &result {
            Ok(value) if !value.is_failure() => fail(location, Chain(&error)),
            _ => note(Chain(&error)),
        }
    }
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Shows what the operator logs with the output of a test that fails; `RUST_LOG` chooses what.
fn log_with_the_test(asked: Option<&str>) {
    // kube logs each answer that is an error, such as those of a cluster that is starting.
    let quiet = || {
        Targets::new()
            .with_default(LevelFilter::INFO)
            .with_target("kube_client", LevelFilter::OFF)
    };
    let filter = asked.and_then(|asked| asked.parse().ok());
    let lines = tracing_subscriber::fmt::layer()
        .with_timer(uptime())
        .with_ansi(false)
        .with_test_writer();
    let subscriber = tracing_subscriber::registry()
        .with(filter.unwrap_or_else(quiet))
        .with(lines);
    // The program may have one of its own.
    subscriber.try_init().unwrap_or_default();
}

/// Embedded tests live on one thread with paused time, so that they are repeatable and never
/// wait; real ones share the machine with their cluster.
fn runtime(choice: Choice) -> std::io::Result<tokio::runtime::Runtime> {
    match choice {
        Choice::Embedded => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build(),
        Choice::Real | Choice::Existing => tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build(),
    }
}

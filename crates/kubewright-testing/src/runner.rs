//! Runs a test on its cluster.

use std::panic::{AssertUnwindSafe, Location, resume_unwind};

use futures_util::FutureExt as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::time::uptime;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::cluster::{Capability, Chain, Cluster, Skip, fail};
use crate::progress::{log, report};
use crate::{ClusterChoice, Error, NodeChoice, Settings};

/// A test with the arguments of `#[kubewright_testing::test]`.
#[derive(Clone, Copy, Debug)]
pub struct TestCase {
    /// The test's path, as libtest prints it.
    pub name: &'static str,
    /// The cluster that it always runs on; otherwise the environment selects it.
    pub cluster: Option<ClusterChoice>,
    /// The number of nodes of its cluster.
    pub nodes: usize,
    /// The capabilities that it needs.
    pub needs: &'static [Capability],
}

/// The return type of a test function.
pub trait TestOutcome {
    /// The value of a test that was not run.
    fn skipped() -> Self;
    /// Whether the returned value is a failure of the test.
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
/// When the test fails, when its cluster does not start, and when a request of the operator under
/// test was forbidden.
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
        report(format_args!(
            "skipped {}: the {choice} cluster lacks {missing}",
            case.name
        ));
        return R::skipped();
    }
    if choice == ClusterChoice::Existing && case.nodes > 0 && settings.nodes == NodeChoice::Kept {
        report(format_args!(
            "skipped {}: tests do not add nodes to an existing cluster",
            case.name
        ));
        return R::skipped();
    }
    init_logging(settings.log.as_deref());
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

async fn start(case: &TestCase, choice: ClusterChoice) -> Result<Option<Cluster>, Error> {
    let builder = match choice {
        ClusterChoice::Embedded => Cluster::embedded(),
        // The embedded cluster always runs its controllers.
        ClusterChoice::Real => Cluster::real().controllers(),
        ClusterChoice::Existing => Cluster::existing(),
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
    cluster.enable_skips();
    let body = AssertUnwindSafe(body(cluster.clone())).catch_unwind();
    let result = tokio::select! {
        biased;
        result = body => result,
        // The test may wait for virtual time, which does not pass in a loop.
        found = cluster.reconcile_loop() => {
            std::panic::catch_unwind(AssertUnwindSafe(|| fail(location, found)))
        }
    };
    let inert_kinds = cluster.inert_kinds();
    if !inert_kinds.is_empty() {
        report(format_args!("{}: {inert_kinds}", case.name));
    }
    let finished = cluster.finish().await;
    let outcome = result.or_else(|panic| {
        let skip = panic.downcast::<Skip>()?;
        report(format_args!("skipped {}: {}", case.name, skip.0));
        Ok(R::skipped())
    });
    // The failure of the test takes precedence; forbidden requests may be its cause.
    if let Err(error) = finished {
        match &outcome {
            Ok(value) if !value.is_failure() => fail(location, Chain(&error)),
            _ => log(Chain(&error)),
        }
    }
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Logs to the output of the test, which libtest shows when the test fails. `RUST_LOG` is a filter.
fn init_logging(filter: Option<&str>) {
    // kube logs each failed request, such as those to a cluster that is starting.
    let default = || {
        Targets::new()
            .with_default(LevelFilter::INFO)
            .with_target("kube_client", LevelFilter::OFF)
    };
    let targets: Option<Targets> = filter.and_then(|filter| filter.parse().ok());
    let lines = tracing_subscriber::fmt::layer()
        .with_timer(uptime())
        .with_ansi(false)
        .with_test_writer();
    let subscriber = tracing_subscriber::registry()
        .with(targets.unwrap_or_else(default))
        .with(lines);
    // Fails if the program has set another subscriber, which is then used.
    drop(subscriber.try_init());
}

/// Tests on the embedded cluster run on one thread with paused time, so that they are reproducible
/// and wait no real time. Other tests leave processors to the processes of their cluster.
fn runtime(choice: ClusterChoice) -> std::io::Result<tokio::runtime::Runtime> {
    match choice {
        ClusterChoice::Embedded => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build(),
        ClusterChoice::Real | ClusterChoice::Existing => {
            tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
        }
    }
}

use std::panic::{AssertUnwindSafe, resume_unwind};

use futures_util::FutureExt as _;

use crate::cluster::{Capability, Chain, Cluster, fail};
use crate::progress::say;
use crate::{Choice, Error, Settings};

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
}

impl TestOutcome for () {
    fn skipped() -> Self {}
}

impl<T: TestOutcome, E> TestOutcome for Result<T, E> {
    fn skipped() -> Self {
        Ok(T::skipped())
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
    let location = std::panic::Location::caller();
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
    let runtime = match runtime(choice) {
        Ok(runtime) => runtime,
        Err(error) => fail(location, format_args!("start a runtime: {error}")),
    };
    runtime.block_on(async {
        match start(case, choice).await {
            Ok(Some(cluster)) => run_on(&cluster, body).await,
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
    };
    let name = case.name.rsplit("::").next().unwrap_or(case.name);
    builder.named(name).nodes(case.nodes).start_or_skip().await
}

async fn run_on<R>(cluster: &Cluster, body: impl AsyncFnOnce(Cluster) -> R) -> R {
    let result = AssertUnwindSafe(body(cluster.clone())).catch_unwind().await;
    let ended = cluster.finish().await;
    match (result, ended) {
        (Err(panic), _) => resume_unwind(panic),
        (Ok(_), Err(error)) => fail(std::panic::Location::caller(), Chain(&error)),
        (Ok(value), Ok(())) => value,
    }
}

/// Embedded tests live on one thread with paused time, so that they are repeatable and never
/// wait; real ones share the machine with their cluster.
fn runtime(choice: Choice) -> std::io::Result<tokio::runtime::Runtime> {
    match choice {
        Choice::Embedded => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build(),
        Choice::Real => tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build(),
    }
}

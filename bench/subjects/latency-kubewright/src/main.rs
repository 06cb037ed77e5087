//! The benchmark `latency` on an Operator with one controller.
//!
//! Each object tells when it was sent; its reconciler tells how long ago that was, and how long
//! ago the bytes of its event were read from the connection.

use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use http::Request;
use http_body_util::BodyExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::client::Body;
use kubewright::{Clock, Context, Controller, ObjectKey, Operator, Outcome, RunOptions};
use kubewright_bench_subject::{chain, percentile, print_reading};
use kubewright_runtime::client::{connect, load_config};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};
use tower::service_fn;

#[global_allocator]
static ALLOCATOR: kubewright::Allocator = kubewright::Allocator;

const NAME: &str = "latency-kubewright";
const SENT: &str = "bench.kubewright.dev/sent";
const NAMESPACE: &str = "bench-latency";
const LIMIT: Duration = Duration::from_secs(120);

/// What the harness hands to this subject.
#[derive(Debug, Parser)]
struct Arguments {
    /// The cluster.
    #[arg(long)]
    kubeconfig: PathBuf,
    /// How many objects are created.
    #[arg(long)]
    objects: usize,
}

/// How long each object took.
#[derive(Debug)]
struct Timer {
    expected: usize,
    arrival: Arc<Mutex<Instant>>,
    taken: Mutex<HashMap<ObjectKey, Taken>>,
    done: Mutex<Option<oneshot::Sender<()>>>,
}

#[derive(Clone, Copy, Debug)]
struct Taken {
    create_ms: f64,
    event_us: f64,
}

async fn reconcile(
    timer: Arc<Timer>,
    object: Arc<ConfigMap>,
    cx: Context<ConfigMap>,
) -> kubewright::Result<Outcome> {
    let (now, called) = (Clock::system().now(), Instant::now());
    let annotations = object.metadata.annotations.as_ref();
    let sent = annotations.and_then(|all| all.get(SENT)?.parse::<i128>().ok());
    let Some(sent) = sent.filter(|_| cx.key().namespace() == Some(NAMESPACE)) else {
        return Ok(Outcome::done());
    };
    let nanoseconds = u32::try_from(now.as_nanosecond() - sent).unwrap_or(u32::MAX);
    let event = called.saturating_duration_since(*timer.arrival.lock());
    let mut taken = timer.taken.lock();
    taken.entry(cx.key().clone()).or_insert(Taken {
        create_ms: f64::from(nanoseconds) / 1e6,
        event_us: event.as_secs_f64() * 1e6,
    });
    if taken.len() == timer.expected
        && let Some(done) = timer.done.lock().take()
    {
        // Nobody waits any more when the time is up.
        done.send(()).unwrap_or_default();
    }
    Ok(Outcome::done())
}

/// The client, with a note of when bytes came last.
fn watched(client: Client, arrival: &Arc<Mutex<Instant>>) -> Client {
    let arrival = Arc::clone(arrival);
    let service = service_fn(move |request: Request<Body>| {
        let (client, arrival) = (client.clone(), Arc::clone(&arrival));
        async move {
            let response = client.send(request).await?;
            let noted = response.map(|body| {
                body.map_frame(move |frame| {
                    *arrival.lock() = Instant::now();
                    frame
                })
            });
            Ok::<_, kube::Error>(noted)
        }
    });
    Client::new(service, "default")
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&chain(&*error));
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let config = load_config(Some(&arguments.kubeconfig)).await?;
    let arrival = Arc::new(Mutex::new(Instant::now()));
    let client = watched(connect(config, NAME)?, &arrival);
    let (done, completed) = oneshot::channel();
    let timer = Arc::new(Timer {
        expected: arguments.objects,
        arrival,
        taken: Mutex::default(),
        done: Mutex::new(Some(done)),
    });
    let controller = Controller::with(Arc::clone(&timer), reconcile);
    let running = Operator::new(NAME)
        .controller(controller)
        .start(client, RunOptions::default())?;
    running.ready().await;
    // The harness creates objects from now on.
    print_reading("ready", 1.0)?;
    timeout(LIMIT, completed).await??;
    let taken: Vec<Taken> = timer.taken.lock().values().copied().collect();
    let of = |pick: fn(&Taken) -> f64| taken.iter().map(pick).collect::<Vec<f64>>();
    let (create, event) = (of(|one| one.create_ms), of(|one| one.event_us));
    for (metric, values, percent) in [
        ("p50_ms", &create, 50),
        ("p99_ms", &create, 99),
        ("event_us", &event, 50),
    ] {
        print_reading(metric, percentile(values, percent).unwrap_or_default())?;
    }
    print_reading("objects", f64::from(u32::try_from(taken.len())?))?;
    running.stop().await;
    Ok(())
}

#[expect(
    clippy::print_stderr,
    reason = "the harness shows it when the subject fails"
)]
fn complain(text: &str) {
    eprintln!("{NAME}: {text}");
}

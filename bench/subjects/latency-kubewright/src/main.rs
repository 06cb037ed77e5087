//! The subject of the benchmark `latency` for kubewright: an Operator with one controller.
//!
//! Each object has an annotation with the time of its create request. The reconciler measures the
//! time since then, and the time since the bytes of the event were read from the connection.

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
const TIMEOUT: Duration = Duration::from_secs(120);

/// The arguments that the harness passes to this subject.
#[derive(Debug, Parser)]
struct Arguments {
    /// The kubeconfig of the cluster.
    #[arg(long)]
    kubeconfig: PathBuf,
    /// The number of objects that are created.
    #[arg(long)]
    objects: usize,
}

/// The latencies of all objects.
#[derive(Debug)]
struct Timer {
    expected: usize,
    arrival: Arc<Mutex<Instant>>,
    latencies: Mutex<HashMap<ObjectKey, Latency>>,
    done: Mutex<Option<oneshot::Sender<()>>>,
}

/// The latencies of one object.
#[derive(Clone, Copy, Debug)]
struct Latency {
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
    let mut latencies = timer.latencies.lock();
    latencies.entry(cx.key().clone()).or_insert(Latency {
        create_ms: f64::from(nanoseconds) / 1e6,
        event_us: event.as_secs_f64() * 1e6,
    });
    if latencies.len() == timer.expected
        && let Some(done) = timer.done.lock().take()
    {
        // The receiver is gone after the timeout.
        done.send(()).ok();
    }
    Ok(Outcome::done())
}

/// Wraps a client: `arrival` becomes the time of the last bytes that were read.
fn with_arrival(client: Client, arrival: &Arc<Mutex<Instant>>) -> Client {
    let arrival = Arc::clone(arrival);
    let service = service_fn(move |request: Request<Body>| {
        let (client, arrival) = (client.clone(), Arc::clone(&arrival));
        async move {
            let response = client.send(request).await?;
            let timed = response.map(|body| {
                body.map_frame(move |frame| {
                    *arrival.lock() = Instant::now();
                    frame
                })
            });
            Ok::<_, kube::Error>(timed)
        }
    });
    Client::new(service, "default")
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report_error(&chain(&*error));
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let config = load_config(Some(&arguments.kubeconfig)).await?;
    let arrival = Arc::new(Mutex::new(Instant::now()));
    let client = with_arrival(connect(config, NAME)?, &arrival);
    let (done, completed) = oneshot::channel();
    let timer = Arc::new(Timer {
        expected: arguments.objects,
        arrival,
        latencies: Mutex::default(),
        done: Mutex::new(Some(done)),
    });
    let controller = Controller::with(Arc::clone(&timer), reconcile);
    let running = Operator::new(NAME)
        .controller(controller)
        .start(client, RunOptions::default())?;
    running.ready().await;
    // The harness creates the objects after this line.
    print_reading("ready", 1.0)?;
    timeout(TIMEOUT, completed).await??;
    let latencies: Vec<Latency> = timer.latencies.lock().values().copied().collect();
    let create: Vec<f64> = latencies.iter().map(|latency| latency.create_ms).collect();
    let event: Vec<f64> = latencies.iter().map(|latency| latency.event_us).collect();
    for (metric, values, percent) in [
        ("p50_ms", &create, 50),
        ("p99_ms", &create, 99),
        ("event_us", &event, 50),
    ] {
        print_reading(metric, percentile(values, percent).unwrap_or_default())?;
    }
    print_reading("objects", f64::from(u32::try_from(latencies.len())?))?;
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

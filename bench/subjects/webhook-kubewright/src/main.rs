//! The subject of the benchmarks `inject` and `webhook` for kubewright: an Operator with one webhook.
//!
//! With `--reviews` it handles that many copies of a review in this process. Otherwise it serves the
//! webhook over TLS until the process is stopped.

use std::error::Error;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use k8s_openapi::api::core::v1::Pod;
use kubewright::webhook::{
    Admission, CertificateFiles, CertificateSource, Certificates, Denied, Incoming, Operation,
    WebhookServing,
};
use kubewright::{Operator, RunOptions, Webhook};
use kubewright_bench_subject::{Sidecars, chain, median, print_reading, processor_time};
use kubewright_runtime::client::connect;
use tokio::net::TcpListener;

#[global_allocator]
static ALLOCATOR: kubewright::Allocator = kubewright::Allocator;

const NAME: &str = "webhook-kubewright";
const PASSES: usize = 5;

/// The arguments that the harness passes to this subject.
#[derive(Debug, Parser)]
struct Arguments {
    /// The file with the containers and volumes to inject.
    #[arg(long)]
    sidecars: PathBuf,
    /// The file with the review to handle.
    #[arg(long)]
    review: Option<PathBuf>,
    /// How many times the review is handled in each pass.
    #[arg(long, requires = "review", requires = "response")]
    reviews: Option<u32>,
    /// The file for the last response.
    #[arg(long)]
    response: Option<PathBuf>,
    /// The folder of tls.crt and tls.key.
    #[arg(long, default_value = ".")]
    certs: PathBuf,
    /// The port on loopback.
    #[arg(long, default_value_t = 0)]
    port: u16,
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
    let sidecars: Sidecars = serde_json::from_slice(&std::fs::read(&arguments.sidecars)?)?;
    let webhook = webhook(Arc::new(sidecars));
    match (arguments.reviews, &arguments.review, &arguments.response) {
        (Some(count), Some(review), Some(response)) => {
            inject(&webhook, &std::fs::read(review)?, count, response).await
        }
        _ => serve(webhook, arguments).await,
    }
}

fn webhook(sidecars: Arc<Sidecars>) -> Webhook {
    let mutate = move |pod: Pod, _: Admission| {
        let sidecars = Arc::clone(&sidecars);
        async move { Ok::<_, Denied>(sidecars.inject(pod)) }
    };
    Webhook::mutates(mutate).on(Operation::Create)
}

/// Handles a review many times and prints the processor time of one response.
async fn inject(
    webhook: &Webhook,
    review: &[u8],
    count: u32,
    last_response: &Path,
) -> Result<(), Box<dyn Error>> {
    let mut response = webhook.handle(review).await;
    let mut passes = Vec::new();
    for _ in 0..PASSES {
        let before = processor_time();
        for _ in 0..count {
            response = webhook.handle(review).await;
        }
        let used = processor_time().saturating_sub(before);
        passes.push(used.as_secs_f64() * 1e6 / f64::from(count));
    }
    std::fs::write(last_response, response)?;
    print_reading("inject_us", median(&passes).unwrap_or_default())?;
    Ok(())
}

async fn serve(webhook: Webhook, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let files = CertificateFiles::in_folder(arguments.certs.clone());
    let serving = WebhookServing {
        incoming: Incoming::Socket(TcpListener::bind(("127.0.0.1", arguments.port)).await?),
        certificates: Certificates::new(&files.read()?)?,
        source: CertificateSource::Files(files),
        idempotence: Default::default(),
    };
    // The webhook sends no requests to the API server, so the address is unused.
    let config = kube::Config::new("http://127.0.0.1:1".parse()?);
    let client = connect(config, NAME)?;
    let options = RunOptions {
        webhooks: Some(serving),
        ..RunOptions::default()
    };
    let _running = Operator::new(NAME)
        .webhook(webhook)
        .start(client, options)?;
    pending().await
}

#[expect(
    clippy::print_stderr,
    reason = "the harness prints it when the subject fails"
)]
fn report_error(text: &str) {
    eprintln!("{NAME}: {text}");
}

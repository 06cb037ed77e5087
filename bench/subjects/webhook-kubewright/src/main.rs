//! The benchmarks `inject` and `webhook` on an Operator with one webhook.
//!
//! With `--reviews` the review is answered so many times in this process; without, the webhook is
//! served over TLS until the process is ended.

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

/// What the harness hands to this subject.
#[derive(Debug, Parser)]
struct Arguments {
    /// What is put into Pods.
    #[arg(long)]
    sidecars: PathBuf,
    /// The review that is answered.
    #[arg(long)]
    review: Option<PathBuf>,
    /// How often it is answered in each pass.
    #[arg(long, requires = "review", requires = "answer")]
    reviews: Option<u32>,
    /// Where the last answer goes.
    #[arg(long)]
    answer: Option<PathBuf>,
    /// The folder with tls.crt and tls.key.
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
            complain(&chain(&*error));
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let sidecars: Sidecars = serde_json::from_slice(&std::fs::read(&arguments.sidecars)?)?;
    let webhook = webhook(Arc::new(sidecars));
    match (arguments.reviews, &arguments.review, &arguments.answer) {
        (Some(count), Some(review), Some(answer)) => {
            inject(&webhook, &std::fs::read(review)?, count, answer).await
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

/// Answers the same review again and again; the processor time of one answer.
async fn inject(
    webhook: &Webhook,
    review: &[u8],
    count: u32,
    last: &Path,
) -> Result<(), Box<dyn Error>> {
    let mut answer = webhook.answer(review).await;
    let mut passes = Vec::new();
    for _ in 0..PASSES {
        let before = processor_time();
        for _ in 0..count {
            answer = webhook.answer(review).await;
        }
        let used = processor_time().saturating_sub(before);
        passes.push(used.as_secs_f64() * 1e6 / f64::from(count));
    }
    std::fs::write(last, answer)?;
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
    // The webhook asks the API server nothing.
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
    reason = "the harness shows it when the subject fails"
)]
fn complain(text: &str) {
    eprintln!("{NAME}: {text}");
}

//! The command line of an operator's program: `run`, `manifests` and `version`.

use std::error::Error as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use kubewright_manifest::{
    Component, ManifestOptions, WebhookCertificates, WebhookUse, deployment, objects, to_yaml,
};
use kubewright_runtime::CgroupLimits;
use kubewright_runtime::client::{Transport, load_config};
use kubewright_runtime::prometheus::MetricKind;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;
use tracing::Level;

use super::builder::Operator;
use super::command_options::options;
use super::flags::{PolicyFlag, RunArguments};
use super::log::{LogFormat, LogWriter, json_line, start_log};
use super::names::check_namespace;
use super::reaper::Reaper;
use super::running::Running;
use crate::Error;
use crate::policy::check_served;

/// The exit code that shells use for a process that SIGINT ended: 128 and the number of the signal.
const ENDED_BY_SIGNAL: u8 = 130;

// A flag before a subcommand belongs to the implicit `run` and would be lost.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the operator (the default)
    Run(Box<RunArguments>),
    /// Print the manifests that a cluster needs to run the operator, as YAML
    Manifests(ManifestArguments),
    /// Print the versions
    Version,
}

#[derive(Args, Debug)]
struct ManifestArguments {
    /// The namespace to run in [default: NAME-system]
    #[arg(long)]
    namespace: Option<String>,
    /// The operator's image; also print a Deployment that runs it in the cluster
    #[arg(long)]
    image: Option<String>,
    /// Register webhooks at this address, such as https://127.0.0.1:9443, instead of a Service
    #[arg(long)]
    webhook_url: Option<String>,
    /// The authority (PEM) that signed the webhooks' certificate
    #[arg(long)]
    webhook_ca: Option<PathBuf>,
    /// Let cert-manager create the webhooks' certificate
    #[arg(long, conflicts_with = "webhook_ca")]
    cert_manager: bool,
    /// Let the operator create the webhooks' certificate and write its CA bundle
    #[arg(long, conflicts_with_all = ["webhook_ca", "webhook_url", "cert_manager"])]
    managed_certificates: bool,
    #[command(flatten)]
    policies: PolicyFlag,
    #[command(flatten)]
    webhooks: WebhookFlag,
    /// Also print a component: network-policy, prometheus or pod-disruption-budget
    #[arg(
        long,
        value_name = "COMPONENT",
        value_delimiter = ',',
        requires = "image"
    )]
    with: Vec<Component>,
}

/// Whether webhooks are part of the manifests.
#[derive(Args, Clone, Copy, Debug)]
struct WebhookFlag {
    /// Leave webhooks out of the manifests
    #[arg(long, conflicts_with_all = ["webhook_ca", "webhook_url", "cert_manager", "managed_certificates"])]
    no_webhooks: bool,
}

/// Runs the program.
pub(super) fn main(operator: Operator) -> ExitCode {
    let name = operator.name.clone();
    let command = Arguments::command()
        .name(name.clone())
        .bin_name(name.clone());
    let parsed = command
        .try_get_matches()
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let format = match &arguments.command {
        None => arguments.run.log.format(),
        Some(Command::Run(run)) => run.log.format(),
        Some(Command::Manifests(_) | Command::Version) => LogFormat::Text,
    };
    let result = match arguments.command {
        None => run(operator, &arguments.run),
        Some(Command::Run(run_arguments)) => run(operator, &run_arguments),
        Some(Command::Manifests(arguments)) => manifests(operator, &arguments),
        Some(Command::Version) => version(&operator),
    };
    result.unwrap_or_else(|error| {
        print_error(format, &name, &error);
        ExitCode::FAILURE
    })
}

/// Prints help to standard output, which is a success, or a usage error to standard error.
fn usage(error: &clap::Error) -> ExitCode {
    match error.print() {
        Ok(()) => u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from),
        Err(_) => ExitCode::FAILURE,
    }
}

fn manifests(operator: Operator, arguments: &ManifestArguments) -> Result<ExitCode, Error> {
    operator.check()?;
    let operator = arguments.policies.apply(operator)?;
    let namespace = arguments.namespace.clone();
    namespace.as_deref().map_or(Ok(()), check_namespace)?;
    let webhook_ca = arguments.webhook_ca.as_deref().map(read_file).transpose()?;
    let options = ManifestOptions {
        namespace,
        webhooks: if arguments.webhooks.no_webhooks {
            WebhookUse::Off
        } else {
            WebhookUse::On
        },
        webhook_url: arguments.webhook_url.clone(),
        webhook_ca,
        certificates: if arguments.cert_manager {
            WebhookCertificates::CertManager
        } else if arguments.managed_certificates {
            WebhookCertificates::Managed
        } else {
            WebhookCertificates::Given
        },
        components: arguments.with.clone(),
    };
    let description = operator.description();
    let mut objects = objects(&description, &options);
    if let Some(image) = &arguments.image {
        objects.extend(deployment(&description, &options, image));
    }
    let text = to_yaml(&objects).map_err(Error::Manifest)?;
    print(&text)
}

fn version(operator: &Operator) -> Result<ExitCode, Error> {
    let own = match &operator.version {
        Some(version) => format!("{} {version}", operator.name),
        None => operator.name.clone(),
    };
    print(&format!(
        "{own}\nkubewright {}\n",
        env!("CARGO_PKG_VERSION")
    ))
}

fn print(text: &str) -> Result<ExitCode, Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // `manifests | head` closes standard output early, which is not an error.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Output(error)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Prints the error and its causes as one line in the format of the log.
fn print_error(format: LogFormat, name: &str, error: &Error) {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(&format!(": {error}"));
        cause = error.source();
    }
    let line = match format {
        LogFormat::Text => format!("{name}: {message}\n").into_bytes(),
        LogFormat::Json => json_line(Level::ERROR, name, &message),
    };
    // If standard error is closed, there is no way to report that.
    io::stderr().write_all(&line).ok();
}

fn run(operator: Operator, arguments: &RunArguments) -> Result<ExitCode, Error> {
    operator.check()?;
    let registered = arguments.policies.apply(operator)?;
    let (writer, _log) = LogWriter::new(arguments.log.format(), io::stderr())
        .map_err(denied("a thread for the log"))?;
    let dropped = writer.dropped();
    start_log(&arguments.log, writer);
    arguments.http2.warn_if_ignored();
    let operator = registered.metrics(move |page| {
        page.family(
            "kubewright_log_lines_dropped_total",
            "Lines of the log that were dropped because they were not read in time",
            MetricKind::Counter,
        )
        .count(&[], dropped.load(Ordering::Relaxed));
    });
    kubewright_http::raise_descriptor_limit();
    let runtime = runtime()?;
    let agent = format!("{} kubewright/{}", operator.name, env!("CARGO_PKG_VERSION"));
    let result = runtime.block_on(async {
        let mut signals = Signals::new()?;
        let mut reaper_task = JoinSet::new();
        if let Some(reaper) = Reaper::of_first_process() {
            reaper_task.spawn(reaper.run());
        }
        let config = load_config(arguments.kubeconfig.as_deref()).await?;
        tracing::info!(operator = operator.name, "starting");
        let options = options(&operator, arguments, &config, &agent).await?;
        let transport = Transport::connect(&config, &agent)?;
        check_served(&transport.clone().client(), &operator.registered().policies).await?;
        let running = operator.start(transport, options)?;
        tokio::select! {
            () = signals.next() => {}
            () = announce(&running) => {}
        }
        tracing::info!("stopping; a second signal ends the process at once");
        tokio::select! {
            () = running.stop() => Ok(ExitCode::SUCCESS),
            () = signals.next() => Ok(ExitCode::from(ENDED_BY_SIGNAL)),
        }
    });
    // Work that did not end in time must not delay the exit.
    runtime.shutdown_background();
    result
}

fn read_file(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })
}

/// Logs when the operator is ready, and never returns.
async fn announce(running: &Running) {
    running.ready().await;
    tracing::info!("ready");
    std::future::pending().await
}

/// Returns a runtime with as many threads as the CPU limit of the cgroup allows.
fn runtime() -> Result<Runtime, Error> {
    Builder::new_multi_thread()
        .enable_all()
        .worker_threads(CgroupLimits::read(Path::new("/")).threads().get())
        .thread_name("kubewright")
        .build()
        .map_err(denied("threads"))
}

fn denied(what: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::System { what, source }
}

/// A stream of SIGINT and SIGTERM.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> Result<Self, Error> {
        let listen = |kind| signal(kind).map_err(denied("signal handlers"));
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

use std::error::Error as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use kubewright_manifest::{ManifestOptions, WebhookCertificates, deployment, objects, to_yaml};
use kubewright_runtime::client::{connect, load_config};
use kubewright_webhook::{CertificateFiles, Certificates, Incoming};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::definition::check_namespace;
use super::{Operator, RunOptions, Running};
use crate::{CertificateSource, Error, ManagedCertificates, Repetition, WebhookServing};

/// What shells expect of a process that a signal has ended: 128 and the signal's number.
const ENDED_BY_SIGNAL: u8 = 130;

// A flag before a subcommand would be another one than that behind it, and be lost.
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
    /// Run the operator (what happens without a subcommand)
    Run(RunArguments),
    /// Print what a cluster needs before the operator can run, as YAML
    Manifests(ManifestArguments),
    /// Print the versions
    Version,
}

#[derive(Args, Debug)]
struct ManifestArguments {
    /// The namespace to run in [default: NAME-system]
    #[arg(long)]
    namespace: Option<String>,
    /// The operator's image; with it, also print what runs the operator inside the cluster
    #[arg(long)]
    image: Option<String>,
    /// Let webhooks be called at this address, such as https://127.0.0.1:9443, instead of a Service
    #[arg(long)]
    webhook_url: Option<String>,
    /// The authority (PEM) that signed the webhooks' certificate
    #[arg(long)]
    webhook_ca: Option<PathBuf>,
    /// Let cert-manager make the webhooks' certificate
    #[arg(long, conflicts_with = "webhook_ca")]
    cert_manager: bool,
    /// Let the operator make the webhooks' certificate and have it trusted
    #[arg(long, conflicts_with_all = ["webhook_ca", "webhook_url", "cert_manager"])]
    managed_certificates: bool,
}

#[derive(Args, Debug)]
struct RunArguments {
    /// The kubeconfig of the cluster [default: KUBECONFIG, the Pod's ServiceAccount, ~/.kube/config]
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
    /// What to log, such as `info` or `info,kubewright=debug`
    #[arg(long, env = "RUST_LOG", default_value = "info")]
    log: String,
    /// Where webhooks are served
    #[arg(long, default_value = "0.0.0.0:9443")]
    webhook_address: SocketAddr,
    /// The folder with tls.crt and tls.key [default: k8s-webhook-server/serving-certs in the folder for temporary files]
    #[arg(long)]
    webhook_certs: Option<PathBuf>,
    /// Make and renew the webhooks' certificate in a Secret, and have the API server trust it
    #[arg(long, conflicts_with = "webhook_certs")]
    managed_certificates: bool,
    /// The namespace that the operator runs in, for managed certificates [default: NAME-system]
    #[arg(long, env = "POD_NAMESPACE")]
    namespace: Option<String>,
    /// Run without webhooks
    #[arg(long)]
    no_webhooks: bool,
}

/// The whole program.
pub(super) fn main(operator: Operator) -> ExitCode {
    let name = operator.name.clone();
    let command = Arguments::command()
        .name(name.clone())
        .bin_name(name.clone());
    let arguments = command
        .try_get_matches()
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = match arguments {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let done = match arguments.command {
        None => run(operator, &arguments.run),
        Some(Command::Run(run_arguments)) => run(operator, &run_arguments),
        Some(Command::Manifests(arguments)) => manifests(&operator, &arguments),
        Some(Command::Version) => version(&operator),
    };
    done.unwrap_or_else(|error| {
        complain(&name, &error);
        ExitCode::FAILURE
    })
}

/// Help goes to standard output and is a success; everything else is the user's to mend.
fn usage(error: &clap::Error) -> ExitCode {
    match error.print() {
        Ok(()) => u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from),
        Err(_) => ExitCode::FAILURE,
    }
}

fn manifests(operator: &Operator, arguments: &ManifestArguments) -> Result<ExitCode, Error> {
    operator.check()?;
    let namespace = arguments.namespace.clone();
    namespace.as_deref().map_or(Ok(()), check_namespace)?;
    let webhook_ca = arguments.webhook_ca.as_deref().map(read_file).transpose()?;
    let options = ManifestOptions {
        namespace,
        webhook_url: arguments.webhook_url.clone(),
        webhook_ca,
        certificates: match (arguments.cert_manager, arguments.managed_certificates) {
            (true, _) => WebhookCertificates::CertManager,
            (false, true) => WebhookCertificates::Managed,
            (false, false) => WebhookCertificates::Given,
        },
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
        // `manifests | head` is no failure of ours.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::Output(error)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// The error and its causes, one line.
fn complain(name: &str, error: &Error) {
    let mut line = format!("{name}: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        line.push_str(&format!(": {error}"));
        cause = error.source();
    }
    // Nobody is left to tell when standard error is closed.
    writeln!(io::stderr(), "{line}").unwrap_or_default();
}

fn run(operator: Operator, arguments: &RunArguments) -> Result<ExitCode, Error> {
    operator.check()?;
    log(&arguments.log);
    let runtime = runtime()?;
    let agent = format!("{} kubewright/{}", operator.name, env!("CARGO_PKG_VERSION"));
    let ended = runtime.block_on(async {
        let mut signals = Signals::new()?;
        let config = load_config(arguments.kubeconfig.as_deref()).await?;
        let client = connect(config, &agent)?;
        tracing::info!(operator = operator.name, "starting");
        let options = RunOptions {
            webhooks: webhooks(&operator, arguments).await?,
            ..RunOptions::default()
        };
        let mut running = operator.start(client, options)?;
        tokio::select! {
            () = signals.next() => {}
            () = announce(&mut running) => {}
        }
        tracing::info!("stopping; a second signal ends at once");
        tokio::select! {
            () = running.stop() => Ok(ExitCode::SUCCESS),
            () = signals.next() => Ok(ExitCode::from(ENDED_BY_SIGNAL)),
        }
    });
    // Work that did not end in time must not hold the process.
    runtime.shutdown_background();
    ended
}

/// Where the operator's webhooks are served, if it has any and nobody switched them off.
async fn webhooks(
    operator: &Operator,
    arguments: &RunArguments,
) -> Result<Option<WebhookServing>, Error> {
    if operator.questions.is_empty() || arguments.no_webhooks {
        return Ok(None);
    }
    let address = arguments.webhook_address;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|source| Error::WebhookAddress { address, source })?;
    let (certificates, source) = certificates(operator, arguments)?;
    tracing::info!(%address, "serving webhooks");
    Ok(Some(WebhookServing {
        incoming: Incoming::Socket(listener),
        certificates,
        source,
        repetition: Repetition::Once,
    }))
}

/// The certificate of the webhooks, and where the next one comes from.
fn certificates(
    operator: &Operator,
    arguments: &RunArguments,
) -> Result<(Certificates, CertificateSource), Error> {
    if arguments.managed_certificates {
        let namespace = arguments.namespace.clone();
        let namespace = namespace.unwrap_or_else(|| format!("{}-system", operator.name));
        let managed = ManagedCertificates::of_service(&operator.name, &namespace);
        return Ok((Certificates::none(), CertificateSource::Managed(managed)));
    }
    // Where controller-runtime looks for them.
    let folder = arguments.webhook_certs.clone().unwrap_or_else(|| {
        let temporary = std::env::temp_dir();
        temporary.join("k8s-webhook-server/serving-certs")
    });
    let files = CertificateFiles::in_folder(folder);
    let certificates = Certificates::new(&files.read()?)?;
    Ok((certificates, CertificateSource::Files(files)))
}

fn read_file(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })
}

/// Says when everything works, and never returns.
async fn announce(running: &mut Running) {
    running.ready().await;
    tracing::info!("all controllers work");
    std::future::pending().await
}

/// As many threads as the cgroup allows; std reads its quota.
fn runtime() -> Result<Runtime, Error> {
    Builder::new_multi_thread()
        .enable_all()
        .thread_name("kubewright")
        .build()
        .map_err(|source| Error::System {
            what: "threads",
            source,
        })
}

fn log(filter: &str) {
    let filter = EnvFilter::builder().parse_lossy(filter);
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(io::stderr().is_terminal() && !unwanted)
        .with_writer(io::stderr);
    // Somebody who has set one up before `main` keeps it.
    subscriber.try_init().unwrap_or_default();
}

/// SIGINT and SIGTERM.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> Result<Self, Error> {
        let listen = |kind| {
            signal(kind).map_err(|source| Error::System {
                what: "signal handlers",
                source,
            })
        };
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

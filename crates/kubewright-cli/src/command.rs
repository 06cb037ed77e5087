use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::check::CheckArguments;
use crate::completions::CompletionsArguments;
use crate::create::{ApiArguments, WebhookArguments};
use crate::deploy::{
    DeployArguments, InstallArguments, ManifestsArguments, UndeployArguments, UninstallArguments,
};
use crate::dev::DevArguments;
use crate::doctor::DoctorArguments;
use crate::error::Error;
use crate::generate::TypesArguments;
use crate::image::ImageArguments;
use crate::init::InitArguments;
use crate::version::VersionArguments;
use crate::{
    check, cluster, completions, create, deploy, dev, doctor, generate, image, init,
    kubebuilder_compat, version,
};

/// Kubernetes operators in Rust: make them, run them, ship them, and run a cluster for them.
#[derive(Debug, Parser)]
#[command(
    name = "kubewright",
    version,
    after_help = "Start here, in a checkout of Kubewright:\n  \
                  kubewright init ../sites --domain example.com --kubewright-path .\n\n\
                  Exit codes: 0 done; 1 it failed, or `check` or `doctor` found something; \
                  2 the command line was not understood.\n\
                  NO_COLOR keeps colours out of logs."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a project that builds, runs and is tested at once.
    #[command(
        after_help = "Example, in a checkout of Kubewright:\n  kubewright init ../sites --domain example.com --kubewright-path ."
    )]
    Init(InitArguments),
    /// Add a kind with its controller, or a webhook, to a project.
    #[command(subcommand)]
    Create(Create),
    /// Build an operator and run it on a cluster, with its samples.
    #[command(after_help = "Example:\n  kubewright dev operators/mydaemonset --once")]
    Dev(DevArguments),
    /// Serve an embedded cluster on loopback until Ctrl-C.
    #[command(
        after_help = "Examples:\n  kubewright cluster --nodes 3 --kubeconfig cluster.yaml\n  kubewright cluster --data state"
    )]
    Cluster(cluster::Arguments),
    /// Look for what the compiler does not say, and the API server late or never.
    #[command(
        after_help = "Examples:\n  kubewright check --since v0.1.0\n  kubewright check --tests --allow float\n  kubewright check --manifests dist/install.yaml --output json"
    )]
    Check(CheckArguments),
    /// Make Rust types of kinds that others define.
    #[command(subcommand)]
    Generate(Generate),
    /// Print what a cluster needs for an operator, or write it for kustomize or Helm.
    #[command(
        after_help = "Examples:\n  kubewright manifests --image r.example.com/sites:0.1.0 | kubectl apply --server-side -f -\n  kubewright manifests --image r.example.com/sites:0.1.0 --helm chart"
    )]
    Manifests(ManifestsArguments),
    /// Make an OCI image of an operator, without Docker, and push it.
    #[command(
        after_help = "Examples:\n  kubewright image --archive sites.tar\n  kubewright image --tag r.example.com/sites:0.1.0 --push"
    )]
    Image(ImageArguments),
    /// Bring the kinds of an operator into a cluster.
    #[command(after_help = "Example:\n  kubewright install --dry-run")]
    Install(InstallArguments),
    /// Take the kinds of an operator out of a cluster, unless there are objects of them.
    #[command(after_help = "Example:\n  kubewright uninstall --dry-run")]
    Uninstall(UninstallArguments),
    /// Bring an operator into a cluster and wait until it runs.
    #[command(after_help = "Example:\n  kubewright deploy --image r.example.com/sites:0.1.0")]
    Deploy(DeployArguments),
    /// Take an operator out of a cluster; its kinds stay, with all objects of them.
    #[command(after_help = "Example:\n  kubewright undeploy --dry-run")]
    Undeploy(UndeployArguments),
    /// Say what is installed, what is missing and what that costs.
    #[command(after_help = "Example:\n  kubewright doctor --needed")]
    Doctor(DoctorArguments),
    /// Print a script that makes a shell complete the command's words.
    #[command(
        alias = "completion",
        after_help = "Examples:\n  source <(kubewright completions bash)\n  kubewright completions fish > ~/.config/fish/completions/kubewright.fish"
    )]
    Completions(CompletionsArguments),
    /// Say which command this is and what it was built from.
    #[command(after_help = "Example:\n  kubewright version --output json")]
    Version(VersionArguments),
    /// kubebuilder's; answered with the command of ours.
    #[command(hide = true, disable_help_flag = true)]
    Alpha {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// kubebuilder's; answered with the command of ours.
    #[command(hide = true, disable_help_flag = true)]
    Edit {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
enum Create {
    /// Add a kind, its controller, a sample and a test.
    #[command(
        after_help = "Example:\n  kubewright create api --group web --version v1 --kind Site"
    )]
    Api(ApiArguments),
    /// Add a webhook for a kind of the project's, or of Kubernetes' own.
    #[command(
        after_help = "Examples:\n  kubewright create webhook --kind Site --defaulting --validation\n  kubewright create webhook --group core --version v1 --kind Pod --defaulting --operations create"
    )]
    Webhook(WebhookArguments),
}

#[derive(Debug, Subcommand)]
enum Generate {
    /// Make Rust types from a CustomResourceDefinition in a file or in a cluster.
    #[command(
        after_help = "Examples:\n  kubewright generate types --file crd-certificates.yaml --to src/certificate.rs\n  kubewright generate types --crd certificates.cert-manager.io"
    )]
    Types(TypesArguments),
}

impl Arguments {
    /// Reads the command line. A flag that kubebuilder's command of the same name has is answered
    /// with ours; anything else that is not understood ends the process with 2.
    pub(crate) fn parse_or_answer() -> Result<Self, Error> {
        Self::try_parse().or_else(|error| {
            let typed: Vec<String> = std::env::args().skip(1).collect();
            match unknown(&error).and_then(|flag| kubebuilder_compat::flag(&typed, &flag)) {
                Some(answer) => Err(answer),
                None => error.exit(),
            }
        })
    }

    /// Does what was asked for.
    pub(crate) fn run(self) -> Result<(), Error> {
        match self.command {
            Command::Init(arguments) => init::run(&arguments),
            Command::Create(Create::Api(arguments)) => create::api(&arguments),
            Command::Create(Create::Webhook(arguments)) => create::webhook(&arguments),
            Command::Completions(arguments) => completions::run(&arguments, Self::command()),
            Command::Doctor(arguments) => doctor::run(&arguments),
            Command::Version(arguments) => version::run(&arguments),
            Command::Alpha { arguments } => Err(kubebuilder_compat::answer("alpha", &arguments)),
            Command::Edit { arguments } => Err(kubebuilder_compat::answer("edit", &arguments)),
            command => with_runtime(command),
        }
    }
}

/// The flag that is not known, without its value.
fn unknown(error: &clap::Error) -> Option<String> {
    let named = error.get(ContextKind::InvalidArg)?;
    let ContextValue::String(flag) = named else {
        return None;
    };
    let flag = flag.split('=').next()?;
    (error.kind() == ErrorKind::UnknownArgument).then(|| flag.to_owned())
}

fn with_runtime(command: Command) -> Result<(), Error> {
    kubewright_http::raise_descriptor_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::Runtime { source })?;
    let outcome = runtime.block_on(async {
        match command {
            Command::Cluster(arguments) => cluster::run(&arguments).await,
            Command::Dev(arguments) => dev::run(&arguments).await,
            Command::Check(arguments) => check::run(&arguments).await,
            Command::Manifests(arguments) => deploy::manifests(&arguments).await,
            Command::Generate(Generate::Types(arguments)) => generate::run(&arguments).await,
            Command::Image(arguments) => image::run(&arguments).await,
            Command::Install(arguments) => deploy::install(&arguments).await,
            Command::Uninstall(arguments) => deploy::uninstall(&arguments).await,
            Command::Deploy(arguments) => deploy::deploy(&arguments).await,
            Command::Undeploy(arguments) => deploy::undeploy(&arguments).await,
            Command::Init(_)
            | Command::Create(_)
            | Command::Completions(_)
            | Command::Doctor(_)
            | Command::Version(_)
            | Command::Alpha { .. }
            | Command::Edit { .. } => {
                unreachable!("these need no runtime and were done before")
            }
        }
    });
    // What is still being computed for a request that has ended is not waited for.
    runtime.shutdown_background();
    outcome
}

//! The command line: all commands, their help, and what each one runs.

use std::pin::Pin;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::check::CheckArguments;
use crate::cluster::ClusterArguments;
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

/// Kubernetes operators in Rust: create, run, test and deploy them, and run a cluster for them.
#[derive(Debug, Parser)]
#[command(
    name = "kubewright",
    version,
    after_help = "Start here, in a checkout of Kubewright:\n  \
                  kubewright init ../sites --domain example.com --kubewright-path .\n\n\
                  Exit codes: 0 success; 1 failure, or `check` or `doctor` found something; \
                  2 invalid command line.\n\
                  NO_COLOR turns colors off in logs."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create a project that builds, runs and passes its tests.
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
    Cluster(ClusterArguments),
    /// Find faults that the compiler does not report, and the API server late or never.
    #[command(
        after_help = "Examples:\n  kubewright check --since v0.1.0\n  kubewright check --tests --allow float\n  kubewright check --manifests dist/install.yaml --output json"
    )]
    Check(CheckArguments),
    /// Generate Rust types for kinds of other projects.
    #[command(subcommand)]
    Generate(Generate),
    /// Print the manifests of an operator, or write them for kustomize or Helm.
    #[command(
        after_help = "Examples:\n  kubewright manifests --image r.example.com/sites:0.1.0 | kubectl apply --server-side -f -\n  kubewright manifests --image r.example.com/sites:0.1.0 --helm chart"
    )]
    Manifests(ManifestsArguments),
    /// Build an OCI image of an operator, without Docker, and push it.
    #[command(
        after_help = "Examples:\n  kubewright image --archive sites.tar\n  kubewright image --tag r.example.com/sites:0.1.0 --push"
    )]
    Image(ImageArguments),
    /// Install the kinds of an operator in a cluster.
    #[command(after_help = "Example:\n  kubewright install --dry-run")]
    Install(InstallArguments),
    /// Delete the kinds of an operator from a cluster, unless objects of them exist.
    #[command(after_help = "Example:\n  kubewright uninstall --dry-run")]
    Uninstall(UninstallArguments),
    /// Deploy an operator to a cluster and wait until it is ready.
    #[command(after_help = "Example:\n  kubewright deploy --image r.example.com/sites:0.1.0")]
    Deploy(DeployArguments),
    /// Delete an operator from a cluster; its kinds stay, with all their objects.
    #[command(after_help = "Example:\n  kubewright undeploy --dry-run")]
    Undeploy(UndeployArguments),
    /// List the tools that are installed, those that are missing, and what needs them.
    #[command(after_help = "Example:\n  kubewright doctor --needed")]
    Doctor(DoctorArguments),
    /// Print the completion script for a shell.
    #[command(
        alias = "completion",
        after_help = "Examples:\n  source <(kubewright completions bash)\n  kubewright completions fish > ~/.config/fish/completions/kubewright.fish"
    )]
    Completions(CompletionsArguments),
    /// Print the version of this command and what it was built from.
    #[command(after_help = "Example:\n  kubewright version --output json")]
    Version(VersionArguments),
    /// A kubebuilder command: the error names the replacement.
    #[command(hide = true, disable_help_flag = true)]
    Alpha {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// A kubebuilder command: the error names the replacement.
    #[command(hide = true, disable_help_flag = true)]
    Edit {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
enum Create {
    /// Add a kind with its controller, a sample and a test.
    #[command(
        after_help = "Example:\n  kubewright create api --group web --version v1 --kind Site"
    )]
    Api(ApiArguments),
    /// Add a webhook for a kind of the project, or for a built-in kind.
    #[command(
        after_help = "Examples:\n  kubewright create webhook --kind Site --defaulting --validation\n  kubewright create webhook --group core --version v1 --kind Pod --defaulting --operations create"
    )]
    Webhook(WebhookArguments),
}

#[derive(Debug, Subcommand)]
enum Generate {
    /// Generate Rust types from a CustomResourceDefinition in a file or in a cluster.
    #[command(
        after_help = "Examples:\n  kubewright generate types --file crd-certificates.yaml --to src/certificate.rs\n  kubewright generate types --crd certificates.cert-manager.io"
    )]
    Types(TypesArguments),
}

impl Arguments {
    /// Reads the command line.
    ///
    /// A flag that only kubebuilder's command of the same name has is an error that names its
    /// replacement; any other invalid command line ends the process with exit code 2.
    pub(crate) fn read() -> Result<Self, Error> {
        Self::try_parse().or_else(|error| {
            let typed: Vec<String> = std::env::args().skip(1).collect();
            let known = unknown_flag(&error)
                .and_then(|flag| kubebuilder_compat::replaced_flag(&typed, &flag));
            match known {
                Some(replaced) => Err(replaced),
                None => error.exit(),
            }
        })
    }

    /// Runs the command.
    pub(crate) fn run(self) -> Result<(), Error> {
        match self.command {
            Command::Init(arguments) => init::run(&arguments),
            Command::Create(Create::Api(arguments)) => create::api(&arguments),
            Command::Create(Create::Webhook(arguments)) => create::webhook(&arguments),
            Command::Dev(arguments) => block_on(dev::run(&arguments)),
            Command::Cluster(arguments) => block_on(cluster::run(&arguments)),
            Command::Check(arguments) => block_on(check::run(&arguments)),
            Command::Generate(Generate::Types(arguments)) => block_on(generate::run(&arguments)),
            Command::Manifests(arguments) => block_on(deploy::manifests(&arguments)),
            Command::Image(arguments) => block_on(image::run(&arguments)),
            Command::Install(arguments) => block_on(deploy::install(&arguments)),
            Command::Uninstall(arguments) => block_on(deploy::uninstall(&arguments)),
            Command::Deploy(arguments) => block_on(deploy::deploy(&arguments)),
            Command::Undeploy(arguments) => block_on(deploy::undeploy(&arguments)),
            Command::Doctor(arguments) => doctor::run(&arguments),
            Command::Completions(arguments) => completions::run(&arguments, Self::command()),
            Command::Version(arguments) => version::run(&arguments),
            Command::Alpha { arguments } => {
                Err(kubebuilder_compat::replaced_command("alpha", &arguments))
            }
            Command::Edit { arguments } => {
                Err(kubebuilder_compat::replaced_command("edit", &arguments))
            }
        }
    }
}

/// Returns the name of the flag that clap does not know, without its value.
fn unknown_flag(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    flag.split('=').next().map(str::to_owned)
}

fn block_on(command: impl Future<Output = Result<(), Error>>) -> Result<(), Error> {
    // The type is erased first, so that the runtime's loop is compiled once for all commands.
    run_on_runtime(Box::pin(command))
}

fn run_on_runtime(
    command: Pin<Box<dyn Future<Output = Result<(), Error>> + '_>>,
) -> Result<(), Error> {
    kubewright_http::raise_descriptor_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::Runtime { source })?;
    let outcome = runtime.block_on(command);
    // Blocking work for requests that have ended must not delay the exit.
    runtime.shutdown_background();
    outcome
}

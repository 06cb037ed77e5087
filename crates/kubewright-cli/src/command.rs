use clap::{Parser, Subcommand};

use crate::create::{ApiArguments, WebhookArguments};
use crate::dev::DevArguments;
use crate::error::Error;
use crate::init::InitArguments;
use crate::ship::{
    DeployArguments, InstallArguments, ManifestsArguments, UndeployArguments, UninstallArguments,
};
use crate::{cluster, create, dev, former, init, ship};

/// Kubernetes operators in Rust: make them, run them, ship them, and run a cluster for them.
#[derive(Debug, Parser)]
#[command(name = "kubewright", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a project that builds, runs and is tested at once.
    #[command(after_help = "Example:\n  kubewright init sites --domain example.com")]
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
    /// Print what a cluster needs for an operator, or write it for kustomize or Helm.
    #[command(
        after_help = "Examples:\n  kubewright manifests --image r.example.com/sites:0.1.0 | kubectl apply --server-side -f -\n  kubewright manifests --image r.example.com/sites:0.1.0 --helm chart"
    )]
    Manifests(ManifestsArguments),
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

impl Arguments {
    /// Does what was asked for.
    pub(crate) fn run(self) -> Result<(), Error> {
        match self.command {
            Command::Init(arguments) => init::run(&arguments),
            Command::Create(Create::Api(arguments)) => create::api(&arguments),
            Command::Create(Create::Webhook(arguments)) => create::webhook(&arguments),
            Command::Alpha { arguments } => Err(former::answer("alpha", &arguments)),
            Command::Edit { arguments } => Err(former::answer("edit", &arguments)),
            command => with_runtime(command),
        }
    }
}

fn with_runtime(command: Command) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|source| Error::Runtime { source })?;
    runtime.block_on(async {
        match command {
            Command::Cluster(arguments) => cluster::run(&arguments).await,
            Command::Dev(arguments) => dev::run(&arguments).await,
            Command::Manifests(arguments) => ship::manifests(&arguments).await,
            Command::Install(arguments) => ship::install(&arguments).await,
            Command::Uninstall(arguments) => ship::uninstall(&arguments).await,
            Command::Deploy(arguments) => ship::deploy(&arguments).await,
            Command::Undeploy(arguments) => ship::undeploy(&arguments).await,
            Command::Init(_)
            | Command::Create(_)
            | Command::Alpha { .. }
            | Command::Edit { .. } => {
                unreachable!("these need no runtime and were done before")
            }
        }
    })
}

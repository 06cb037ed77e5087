//! `kubewright cluster`: an embedded cluster that runs until it is interrupted.

use std::path::{Path, PathBuf};

use clap::Args;
use kubewright_apiserver::{AdmissionPlugin, AdmissionPlugins};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::embedded::{EmbeddedCluster, EmbeddedOptions};
use crate::error::Error;
use crate::interrupt::Interrupts;
use crate::output::{has_colors, print_line};

/// The default name of the kubeconfig.
const KUBECONFIG: &str = "kubewright-cluster.yaml";

/// The arguments of `kubewright cluster`.
#[derive(Debug, Args)]
pub(crate) struct ClusterArguments {
    /// The number of nodes; they are objects only, and simulate every Pod.
    #[arg(long, default_value_t = 1)]
    nodes: usize,
    /// The port to listen on; 0 selects a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Where to write the kubeconfig; an existing file is never replaced
    /// [default: kubewright-cluster.yaml, or kubeconfig.yaml in the data folder].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Store all objects in a folder, and continue from what it has: no acknowledged write is
    /// lost, even when the process is killed.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Admission plugins to disable, by their Kubernetes names, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    disable_admission_plugins: Vec<AdmissionPlugin>,
    /// What to log to standard error: a level (`info`), or levels of modules
    /// (`kubewright_apiserver=debug`).
    #[arg(long, value_name = "FILTER", default_value = "warn")]
    log: String,
}

impl ClusterArguments {
    fn admission_plugins(&self) -> AdmissionPlugins {
        let disabled = self.disable_admission_plugins.iter();
        disabled.fold(AdmissionPlugins::default(), |plugins, plugin| {
            plugins.without(*plugin)
        })
    }
}

/// Serves an embedded cluster until it is interrupted.
///
/// # Cancel safety
///
/// Dropping the future ends the cluster and leaves its kubeconfig behind.
pub(crate) async fn run(arguments: &ClusterArguments) -> Result<(), Error> {
    log_to_standard_error(&arguments.log)?;
    let mut interrupts = Interrupts::listen()?;
    let nodes = arguments.nodes;
    let options = EmbeddedOptions {
        nodes,
        port: arguments.port,
        admission: arguments.admission_plugins(),
    };
    let cluster = match &arguments.data {
        Some(folder) => EmbeddedCluster::open(folder, options).await?,
        None => EmbeddedCluster::start(options).await?,
    };
    let kubeconfig = write_kubeconfig(&cluster, arguments)?;
    print_line(format_args!(
        "Kubernetes API on https://{} with {nodes} nodes",
        cluster.address()
    ));
    print_line(format_args!(
        "Try:  kubectl --kubeconfig {} get nodes",
        kubeconfig.display()
    ));
    match &arguments.data {
        Some(folder) => print_line(format_args!(
            "Press Ctrl-C to stop; all objects are kept in {}.",
            folder.display()
        )),
        None => print_line("Press Ctrl-C to stop; no objects are kept."),
    }
    let outcome = cluster.run_until(&mut interrupts).await;
    remove_kubeconfig(kubeconfig)?;
    outcome
}

fn write_kubeconfig(
    cluster: &EmbeddedCluster,
    arguments: &ClusterArguments,
) -> Result<PathBuf, Error> {
    let path = match (&arguments.kubeconfig, &arguments.data) {
        (Some(file), _) => file.clone(),
        (None, None) => PathBuf::from(KUBECONFIG),
        (None, Some(folder)) => {
            // Only clusters write to the data folder: a kubeconfig there is left over from a
            // cluster that was killed.
            let path = folder.join("kubeconfig.yaml");
            remove_kubeconfig(path.clone())?;
            path
        }
    };
    cluster.write_admin_kubeconfig(Path::new(&path))
}

fn remove_kubeconfig(path: PathBuf) -> Result<(), Error> {
    match std::fs::remove_file(&path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(Error::File {
            action: "remove the kubeconfig",
            path,
            source,
        }),
        _ => Ok(()),
    }
}

fn log_to_standard_error(filter: &str) -> Result<(), Error> {
    let targets: Targets = filter.parse().map_err(|source| Error::LogFilter {
        filter: filter.to_owned(),
        source,
    })?;
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(has_colors())
        .with_writer(std::io::stderr);
    tracing_subscriber::registry()
        .with(targets)
        .with(lines)
        .init();
    Ok(())
}

use std::path::{Path, PathBuf};

use clap::Args;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::embedded::Embedded;
use crate::error::Error;
use crate::interrupt::Interrupts;
use crate::output::{has_colours, say};

/// Where the kubeconfig is written unless the caller says otherwise.
const KUBECONFIG: &str = "kubewright-cluster.yaml";

/// How a cluster is served.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many nodes it has; they are only objects, and run every Pod.
    #[arg(long, default_value_t = 1)]
    nodes: usize,
    /// The port to listen on; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Where to write the kubeconfig; a file that is there already is left alone
    /// [default: kubewright-cluster.yaml, or kubeconfig.yaml in the data folder].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Keep everything in a folder, and go on from what is there: nothing that was answered is
    /// lost, however the process ends.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// What to log on standard error: a level (`info`), or levels by part
    /// (`kubewright_apiserver=debug`).
    #[arg(long, value_name = "FILTER", default_value = "warn")]
    log: String,
}

/// Serves an embedded cluster until it is interrupted.
pub(crate) async fn run(arguments: &Arguments) -> Result<(), Error> {
    log_to_standard_error(&arguments.log)?;
    let mut interrupts = Interrupts::listen()?;
    let (nodes, port) = (arguments.nodes, arguments.port);
    let cluster = match &arguments.data {
        Some(folder) => Embedded::open(folder, nodes, port).await?,
        None => Embedded::start(nodes, port).await?,
    };
    let written = write_kubeconfig(&cluster, arguments)?;
    say(format_args!(
        "Kubernetes API on https://{} with {nodes} nodes",
        cluster.address()
    ));
    say(format_args!(
        "Try:  kubectl --kubeconfig {} get nodes",
        written.display()
    ));
    match &arguments.data {
        Some(folder) => say(format_args!(
            "Ctrl-C stops it; everything is kept in {}.",
            folder.display()
        )),
        None => say("Ctrl-C stops it; nothing is kept."),
    }
    let outcome = cluster.until(&mut interrupts).await;
    remove(written)?;
    outcome
}

fn write_kubeconfig(cluster: &Embedded, arguments: &Arguments) -> Result<PathBuf, Error> {
    let path = match (&arguments.kubeconfig, &arguments.data) {
        (Some(file), _) => file.clone(),
        (None, None) => PathBuf::from(KUBECONFIG),
        (None, Some(folder)) => {
            // The folder is the cluster's own: what a killed one has left behind is replaced.
            let path = folder.join("kubeconfig.yaml");
            remove(path.clone())?;
            path
        }
    };
    cluster.write_admin_kubeconfig(Path::new(&path))
}

fn remove(path: PathBuf) -> Result<(), Error> {
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
    let parsed: Targets = filter.parse().map_err(|source| Error::LogFilter {
        filter: filter.to_owned(),
        source,
    })?;
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(has_colours())
        .with_writer(std::io::stderr);
    tracing_subscriber::registry()
        .with(parsed)
        .with(lines)
        .init();
    Ok(())
}

//! `kubewright dev`: from a folder to a running operator.

mod build;
mod install;
mod operator;
mod ready;
mod samples;
mod watch;

use std::path::Path;
use std::time::Duration;

use crate::embedded::Embedded;
use crate::error::Error;
use crate::interrupt::Interrupts;
use crate::output::{note, say};

/// Builds the operator in `folder`, runs it on an embedded cluster and applies its samples; with a
/// `timeout` it ends when they are ready, otherwise at Ctrl-C.
pub(crate) async fn run(
    folder: &Path,
    nodes: usize,
    timeout: Option<Duration>,
) -> Result<(), Error> {
    let program = build::build(folder).await?;
    let mut interrupts = Interrupts::listen()?;
    let cluster = Embedded::start(nodes, 0).await?;
    note(format_args!(
        "cluster: https://{} with {nodes} nodes",
        cluster.address()
    ));

    let scratch = tempfile::tempdir().map_err(|source| Error::File {
        action: "make a folder in",
        path: std::env::temp_dir(),
        source,
    })?;
    let kubeconfig = cluster.write_admin_kubeconfig(&scratch.path().join("admin.yaml"))?;
    note(format_args!(
        "kubectl: --kubeconfig {}",
        kubeconfig.display()
    ));

    let account = install::install(&cluster.admin(), &program).await?;
    let mut operator = operator::start(&cluster, &program, &account, scratch.path()).await?;
    let outcome = tokio::select! {
        outcome = with_samples(folder, &cluster, timeout) => outcome,
        ended = operator.ended() => Err(ended),
        () = interrupts.next() => match timeout {
            Some(_) => Err(Error::Interrupted),
            None => Ok(()),
        },
    };
    operator.stop().await?;
    cluster.stop().await?;
    outcome
}

/// Ends when the samples are ready, or never when nobody waits for that.
async fn with_samples(
    folder: &Path,
    cluster: &Embedded,
    timeout: Option<Duration>,
) -> Result<(), Error> {
    let samples = samples::apply(&cluster.admin(), &folder.join("samples")).await?;
    match timeout {
        Some(timeout) => watch::until_ready(cluster, &samples, timeout).await,
        None => {
            say("running; Ctrl-C stops it");
            std::future::pending().await
        }
    }
}

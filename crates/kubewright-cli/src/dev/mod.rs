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
use crate::output::{note, say};

/// Builds the operator in `folder`, runs it on an embedded cluster and applies its samples; with a
/// `timeout` it ends when they are ready, otherwise at Ctrl-C.
pub(crate) async fn run(
    folder: &Path,
    nodes: usize,
    timeout: Option<Duration>,
) -> Result<(), Error> {
    let program = build::build(folder).await?;
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
    let outcome = with_samples(folder, &cluster, &mut operator, timeout).await;
    operator.stop().await?;
    cluster.stop().await?;
    outcome
}

async fn with_samples(
    folder: &Path,
    cluster: &Embedded,
    operator: &mut operator::Operator,
    timeout: Option<Duration>,
) -> Result<(), Error> {
    let samples = samples::apply(&cluster.admin(), &folder.join("samples")).await?;
    let Some(timeout) = timeout else {
        say("running; Ctrl-C stops it");
        return tokio::select! {
            _ = tokio::signal::ctrl_c() => Ok(()),
            ended = operator.ended() => Err(ended),
        };
    };
    tokio::select! {
        outcome = watch::until_ready(cluster, &samples, timeout) => outcome,
        ended = operator.ended() => Err(ended),
    }
}

use std::path::Path;

use crate::embedded::Embedded;
use crate::error::Error;
use crate::interrupt::Interrupts;
use crate::output::say;

/// Serves an embedded cluster until it is interrupted.
pub(crate) async fn run(nodes: usize, port: u16, kubeconfig: &Path) -> Result<(), Error> {
    let mut interrupts = Interrupts::listen()?;
    let cluster = Embedded::start(nodes, port).await?;
    let written = cluster.write_admin_kubeconfig(kubeconfig)?;
    say(format_args!(
        "Kubernetes API on https://{} with {nodes} nodes",
        cluster.address()
    ));
    say(format_args!(
        "Try:  kubectl --kubeconfig {} get nodes",
        written.display()
    ));
    say("Ctrl-C stops it; nothing is kept.");
    let outcome = cluster.until(&mut interrupts).await;
    if let Err(source) = std::fs::remove_file(&written)
        && source.kind() != std::io::ErrorKind::NotFound
    {
        return Err(Error::File {
            action: "remove the kubeconfig",
            path: written,
            source,
        });
    }
    outcome
}

//! Where a cluster is, and as whom it is asked: several kubeconfigs together, one of their
//! contexts, and what a program without arguments finds.

use std::path::PathBuf;

use kubewright::kube::Config;
use kubewright::prelude::*;
use kubewright_runtime::client::{connect, load_config, load_merged};

/// The server, the namespace, and how the client proves who it is.
pub(crate) fn told(config: &Config) -> String {
    let user = &config.auth_info;
    let proof = if let Some(plugin) = &user.exec {
        // It runs when the first request needs it, and again before what it gave ends.
        format!("plugin {}", plugin.command.as_deref().unwrap_or_default())
    } else if user.token_file.is_some() {
        // As inside a cluster: read again each minute, because it changes.
        "token file".to_owned()
    } else if user.token.is_some() {
        "token".to_owned()
    } else {
        "certificate or nothing".to_owned()
    };
    format!(
        "{} {} {proof}",
        config.cluster_url, config.default_namespace
    )
}

/// What the files say together: the first that has a name or a value decides.
pub(crate) async fn choose(files: &[PathBuf], context: Option<&str>) -> Result<String> {
    let config = load_merged(files, context).await?;
    let told = told(&config);
    // Nothing is sent before the first request.
    connect(config, "configuration-example")?;
    Ok(told)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // KUBECONFIG, the Pod that this runs in, or the home folder.
    println!("{}", told(&load_config(None).await?));
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if !files.is_empty() {
        let told = choose(&files, None).await;
        println!("{}", told.map_err(|one| one.to_string())?);
    }
    Ok(())
}

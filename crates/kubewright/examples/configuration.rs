//! The configuration of a client: several merged kubeconfigs, one of their contexts, and the default
//! of a program without arguments.

use std::path::PathBuf;

use kubewright::client::{connect, load_config, load_merged};
use kubewright::kube::Config;
use kubewright::prelude::*;

/// Returns the server, the namespace, and the credentials of the client.
pub(crate) fn summary(config: &Config) -> String {
    let user = &config.auth_info;
    let credentials = if let Some(plugin) = &user.exec {
        // The plugin runs for the first request, and again before its credentials expire.
        format!("plugin {}", plugin.command.as_deref().unwrap_or_default())
    } else if user.token_file.is_some() {
        // As inside a cluster: the file is read again each minute, because it changes.
        "token file".to_owned()
    } else if user.token.is_some() {
        "token".to_owned()
    } else {
        "certificate or none".to_owned()
    };
    format!(
        "{} {} {credentials}",
        config.cluster_url, config.default_namespace
    )
}

/// Merges the files; the first file that has a name or a value wins. Returns the summary of a context.
pub(crate) async fn choose(files: &[PathBuf], context: Option<&str>) -> Result<String> {
    let config = load_merged(files, context).await?;
    let summary = summary(&config);
    // Connects only with the first request.
    connect(config, "configuration-example")?;
    Ok(summary)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // From KUBECONFIG, the Pod of this process, or the home folder.
    println!("{}", summary(&load_config(None).await?));
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if !files.is_empty() {
        let summary = choose(&files, None).await;
        println!("{}", summary.map_err(|error| error.to_string())?);
    }
    Ok(())
}

//! The configuration of a cluster, and a client for it.

use std::path::{Path, PathBuf};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::Transport;
use super::config::{from_environment, home_file, merge_files, read_file};
use crate::Error;

/// Loads the address of a cluster and the credentials for it: from `kubeconfig`, else from the
/// files that `KUBECONFIG` lists, else from the Pod that this process runs in, else from the
/// kubeconfig of the home folder. A kubeconfig that is named but invalid is an error and never
/// skipped.
///
/// # Cancel safety
///
/// When dropped, nothing is lost.
pub async fn load_config(kubeconfig: Option<&Path>) -> Result<Config, Error> {
    if let Some(path) = kubeconfig {
        return from_file(path).await;
    }
    if let Some(kubeconfig) = from_environment()? {
        let options = KubeConfigOptions::default();
        return from_kubeconfig("of KUBECONFIG", kubeconfig, &options).await;
    }
    let not_in_a_pod = match Config::incluster() {
        Ok(config) => return Ok(config),
        Err(error) => error,
    };
    match home_file() {
        Some(path) => from_file(&path).await,
        None => Err(Error::NoCluster {
            tried: "no KUBECONFIG, not inside a cluster, no ~/.kube/config".to_owned(),
            source: not_in_a_pod.into(),
        }),
    }
}

/// Merges kubeconfigs as if `KUBECONFIG` listed them: the first that has a value, or an entry of a
/// name, wins. `context` overrides the current context.
///
/// # Cancel safety
///
/// When dropped, nothing is lost.
pub async fn load_merged(kubeconfigs: &[PathBuf], context: Option<&str>) -> Result<Config, Error> {
    let names: Vec<_> = kubeconfigs
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let merged = merge_files(kubeconfigs.iter().cloned())?.unwrap_or_default();
    let options = KubeConfigOptions {
        context: context.map(str::to_owned),
        ..KubeConfigOptions::default()
    };
    from_kubeconfig(&names.join(" and "), merged, &options).await
}

/// A client with this `User-Agent`. It retries nothing on its own, because the caller knows best
/// whether a request can be retried; [`ClientLimits`](super::ClientLimits) adds retries.
///
/// A token file is read again each minute. An exec plugin runs for the first request and again
/// before its credentials expire. Both happen also after a response of 401. Proxies and
/// auth-providers other than an OIDC token are not supported; `HTTPS_PROXY` does not apply to
/// servers on loopback and to those that `NO_PROXY` lists ([`honor_no_proxy`](super::honor_no_proxy)).
///
/// To add layers, use [`Transport::connect`] instead.
///
/// # Panics
///
/// Outside a tokio runtime: the client runs a task.
pub fn connect(config: Config, user_agent: &str) -> Result<Client, Error> {
    Ok(Transport::connect(&config, user_agent)?.client())
}

async fn from_file(path: &Path) -> Result<Config, Error> {
    let name = path.display().to_string();
    from_kubeconfig(&name, read_file(path)?, &KubeConfigOptions::default()).await
}

async fn from_kubeconfig(
    name: &str,
    kubeconfig: Kubeconfig,
    options: &KubeConfigOptions,
) -> Result<Config, Error> {
    let config = Config::from_custom_kubeconfig(kubeconfig, options).await;
    config.map_err(|source| Error::Kubeconfig {
        path: name.to_owned(),
        source: source.into(),
    })
}

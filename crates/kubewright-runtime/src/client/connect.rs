use std::path::{Path, PathBuf};

use http::HeaderValue;
use http::header::USER_AGENT;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use kubewright_core::Clock;

use super::config::{merged, of_environment, of_file, of_home};
use super::transport::Transport;
use crate::Error;

/// Where the cluster is and who we are there: the named kubeconfig, else the one that
/// `KUBECONFIG` names, else the cluster that this process runs in, else the kubeconfig of the
/// home folder. A kubeconfig that is named but broken is an error, never skipped.
///
/// # Cancel safety
///
/// Dropped, nothing is lost.
pub async fn load_config(kubeconfig: Option<&Path>) -> Result<Config, Error> {
    if let Some(path) = kubeconfig {
        return from_file(path).await;
    }
    if let Some(read) = of_environment()? {
        return from_kubeconfig("of KUBECONFIG", read).await;
    }
    let outside = match Config::incluster() {
        Ok(config) => return Ok(config),
        Err(outside) => outside,
    };
    match of_home() {
        Some(path) => from_file(&path).await,
        None => Err(Error::NoCluster {
            tried: "no KUBECONFIG, not inside a cluster, no ~/.kube/config".to_owned(),
            source: outside.into(),
        }),
    }
}

/// What these kubeconfigs say together, as those that `KUBECONFIG` names: the first that has a name
/// or a value decides. `context` takes the place of the current one.
///
/// # Cancel safety
///
/// Dropped, nothing is lost.
pub async fn load_merged(kubeconfigs: &[PathBuf], context: Option<&str>) -> Result<Config, Error> {
    let names: Vec<_> = kubeconfigs
        .iter()
        .map(|one| one.display().to_string())
        .collect();
    let read = merged(kubeconfigs.iter().cloned())?.unwrap_or_default();
    let options = KubeConfigOptions {
        context: context.map(str::to_owned),
        ..KubeConfigOptions::default()
    };
    from_parts(&names.join(" and "), read, &options).await
}

/// A client with the runtime's settings: it names itself, and it repeats nothing on its own,
/// because who sends a request knows best whether to send it again.
///
/// A token file is read again each minute, an exec plugin runs when the first request needs it
/// and again before what it gave ends, and either after the API server has answered 401. Proxies
/// and auth-providers other than an OIDC token are not supported; `HTTPS_PROXY` does not apply to
/// servers on loopback and to those that `NO_PROXY` lists ([`honor_no_proxy`](super::honor_no_proxy)).
///
/// # Panics
///
/// Outside a tokio runtime: the client has a task of its own.
pub fn connect(mut config: Config, user_agent: &str) -> Result<Client, Error> {
    if let Ok(value) = HeaderValue::from_str(user_agent) {
        config.headers.push((USER_AGENT, value));
    }
    match Transport::new(&config, Clock::system()) {
        Ok(transport) => Ok(Client::new(transport, config.default_namespace)),
        Err(fault) => Err(Error::Client {
            server: config.cluster_url.to_string(),
            source: fault.into(),
        }),
    }
}

async fn from_file(path: &Path) -> Result<Config, Error> {
    from_kubeconfig(&path.display().to_string(), of_file(path)?).await
}

async fn from_kubeconfig(name: &str, read: Kubeconfig) -> Result<Config, Error> {
    from_parts(name, read, &KubeConfigOptions::default()).await
}

async fn from_parts(
    name: &str,
    read: Kubeconfig,
    options: &KubeConfigOptions,
) -> Result<Config, Error> {
    let config = Config::from_custom_kubeconfig(read, options).await;
    config.map_err(|source| Error::Kubeconfig {
        path: name.to_owned(),
        source: source.into(),
    })
}

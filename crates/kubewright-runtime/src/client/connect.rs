use std::path::Path;

use http::HeaderValue;
use http::header::USER_AGENT;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

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
        let name = path.display().to_string();
        let read = Kubeconfig::read_from(path).map_err(|source| broken(&name, source))?;
        return from_kubeconfig(&name, read).await;
    }
    let named = Kubeconfig::from_env().map_err(|source| broken("of KUBECONFIG", source))?;
    if let Some(read) = named {
        return from_kubeconfig("of KUBECONFIG", read).await;
    }
    if let Ok(config) = Config::incluster() {
        return Ok(config);
    }
    match Kubeconfig::read() {
        Ok(read) => from_kubeconfig("of the home folder", read).await,
        Err(source) => Err(Error::NoCluster {
            tried: "no KUBECONFIG, not inside a cluster, no ~/.kube/config".to_owned(),
            source: source.into(),
        }),
    }
}

/// A client with the runtime's settings: it names itself, and it repeats nothing on its own,
/// because who sends a request knows best whether to send it again.
///
/// # Panics
///
/// Outside a tokio runtime: the client has a task of its own.
pub fn connect(mut config: Config, user_agent: &str) -> Result<Client, Error> {
    config.default_retry = false;
    if let Ok(value) = HeaderValue::from_str(user_agent) {
        config.headers.push((USER_AGENT, value));
    }
    let server = config.cluster_url.to_string();
    Client::try_from(config).map_err(|source| Error::Client {
        server,
        source: Box::new(source),
    })
}

async fn from_kubeconfig(name: &str, read: Kubeconfig) -> Result<Config, Error> {
    Config::from_custom_kubeconfig(read, &KubeConfigOptions::default())
        .await
        .map_err(|source| broken(name, source))
}

fn broken(path: &str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Kubeconfig {
        path: path.to_owned(),
        source: source.into(),
    }
}

//! The flags that select an existing cluster, and clients for it.

use std::path::PathBuf;

use clap::Args;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use kubewright::client::honor_no_proxy;

use crate::error::{Cause, Error};

/// The kubeconfig and context of an existing cluster.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ClusterAccess {
    /// The kubeconfig [default: KUBECONFIG, then ~/.kube/config].
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context in the kubeconfig [default: the current one].
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

impl ClusterAccess {
    /// Reads the kubeconfig.
    pub(crate) fn kubeconfig(&self) -> Result<Kubeconfig, Error> {
        let kubeconfig = match &self.kubeconfig {
            Some(path) => Kubeconfig::read_from(path),
            None => Kubeconfig::read(),
        };
        kubeconfig.map_err(|source| self.failed(source.into()))
    }

    /// Returns a client for the cluster.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(crate) async fn client(&self) -> Result<Client, Error> {
        let config = self.config().await?;
        Client::try_from(config).map_err(|source| self.failed(source.into()))
    }

    async fn config(&self) -> Result<Config, Error> {
        let options = KubeConfigOptions {
            context: self.context.clone(),
            ..KubeConfigOptions::default()
        };
        let config = Config::from_custom_kubeconfig(self.kubeconfig()?, &options).await;
        let mut config = config.map_err(|source| self.failed(source.into()))?;
        honor_no_proxy(&mut config);
        Ok(config)
    }

    fn failed(&self, source: Cause) -> Error {
        let file = self
            .kubeconfig
            .as_ref()
            .map(|path| path.display().to_string());
        Error::ClusterAccess {
            file: file.unwrap_or_else(|| "of KUBECONFIG or ~/.kube/config".to_owned()),
            source,
        }
    }
}

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use kubewright::client::honor_no_proxy;

use super::report::AnswerFlag;
use crate::error::Error;

/// Which operator, and which cluster.
#[derive(Args, Debug)]
pub(crate) struct Target {
    /// The operator's folder: a Cargo package with one program.
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) access: Access,
    /// Only show what would change.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How many seconds to wait until everything is ready, or gone.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) timeout: u64,
    #[command(flatten)]
    pub(crate) answer: AnswerFlag,
}

impl Target {
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }
}

/// How a cluster that is there is reached.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Access {
    /// The kubeconfig [default: KUBECONFIG, then ~/.kube/config].
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context in it [default: the current one].
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
}

impl Access {
    /// The kubeconfig itself.
    pub(crate) fn read(&self) -> Result<Kubeconfig, Error> {
        let read = match &self.kubeconfig {
            Some(path) => Kubeconfig::read_from(path),
            None => Kubeconfig::read(),
        };
        read.map_err(|source| self.failed(source.into()))
    }

    /// How to reach the cluster.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(crate) async fn config(&self) -> Result<Config, Error> {
        let options = KubeConfigOptions {
            context: self.context.clone(),
            ..KubeConfigOptions::default()
        };
        let config = Config::from_custom_kubeconfig(self.read()?, &options).await;
        let mut config = config.map_err(|source| self.failed(source.into()))?;
        honor_no_proxy(&mut config);
        Ok(config)
    }

    /// A client for it.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(crate) async fn client(&self) -> Result<Client, Error> {
        let config = self.config().await?;
        Client::try_from(config).map_err(|source| self.failed(source.into()))
    }

    fn failed(&self, source: Box<dyn std::error::Error + Send + Sync>) -> Error {
        let file = self
            .kubeconfig
            .as_ref()
            .map(|path| path.display().to_string());
        Error::Access {
            file: file.unwrap_or_else(|| "of KUBECONFIG or ~/.kube/config".to_owned()),
            source,
        }
    }
}

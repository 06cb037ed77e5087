//! The API server that the tables are read from.

use std::error::Error;
use std::path::PathBuf;

use http::Request;
use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kubewright_testing::Settings;
use kubewright_testing::control_plane::{ControlPlane, Release};
use kubewright_testing::real::{RealCluster, RealOptions};
use serde_json::Value;

/// The API server that the tables are read from.
pub(super) struct Server {
    client: Client,
    /// The control plane, if it was started here. It stops when it is dropped.
    _started: Option<RealCluster>,
}

impl Server {
    /// Connects to the server of a kubeconfig, or starts one.
    pub(super) async fn connect(kubeconfig: Option<PathBuf>) -> Result<Self, Box<dyn Error>> {
        if let Some(path) = kubeconfig {
            let kubeconfig = Kubeconfig::read_from(path)?;
            let options = KubeConfigOptions::default();
            let config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
            return Ok(Self {
                client: Client::try_from(config)?,
                _started: None,
            });
        }
        let settings = Settings::from_environment()?;
        let programs = ControlPlane::locate(Release::current(), &settings).await?;
        let started = RealCluster::start(&programs, &RealOptions::default()).await?;
        Ok(Self {
            client: started.client().await?,
            _started: Some(started),
        })
    }

    /// Reads the JSON document at a path.
    pub(super) async fn read(&self, path: &str) -> Result<Value, Box<dyn Error>> {
        let request = Request::get(path).body(Vec::new())?;
        let text = self.client.request_text(request).await?;
        Ok(serde_json::from_str(&text)?)
    }
}

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
    /// Runs until this is dropped; none where the server is the caller's.
    _started: Option<RealCluster>,
}

impl Server {
    /// Reaches the server that a kubeconfig names, or starts one.
    pub(super) async fn connect(kubeconfig: Option<PathBuf>) -> Result<Self, Box<dyn Error>> {
        if let Some(path) = kubeconfig {
            let config = Kubeconfig::read_from(path)?;
            let options = KubeConfigOptions::default();
            let config = Config::from_custom_kubeconfig(config, &options).await?;
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

    /// The JSON document at a path.
    pub(super) async fn read(&self, path: &str) -> Result<Value, Box<dyn Error>> {
        let request = Request::get(path).body(Vec::new())?;
        let text = self.client.request_text(request).await?;
        Ok(serde_json::from_str(&text)?)
    }
}

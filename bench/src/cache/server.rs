use std::path::PathBuf;

use kube::Client;
use kubewright_testing::Settings;
use kubewright_testing::control_plane::{ControlPlane, Release};
use kubewright_testing::real::{RealCluster, RealOptions};

use super::embedded::Embedded;
use crate::command::ServerKind;
use crate::error::Error;
use crate::output;

/// An API server that holds the objects; dropped, it ends.
#[derive(Debug)]
pub(super) enum Server {
    Real(Box<RealCluster>),
    Embedded(Embedded),
}

impl Server {
    /// Starts one without objects.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends what was started.
    pub(super) async fn start(kind: ServerKind, settings: &Settings) -> Result<Self, Error> {
        match kind {
            ServerKind::Real => {
                output::note("start a real control plane");
                let control_plane = ControlPlane::locate(Release::current(), settings).await?;
                let cluster = RealCluster::start(&control_plane, &RealOptions::default()).await?;
                Ok(Self::Real(Box::new(cluster)))
            }
            ServerKind::Embedded => {
                output::note("start an embedded API server");
                Embedded::start().await.map(Self::Embedded)
            }
        }
    }

    pub(super) async fn client(&self) -> Result<Client, Error> {
        match self {
            Self::Real(cluster) => Ok(cluster.client().await?),
            Self::Embedded(cluster) => Ok(cluster.client()),
        }
    }

    pub(super) fn kubeconfig(&self) -> PathBuf {
        match self {
            Self::Real(cluster) => cluster.kubeconfig(),
            Self::Embedded(cluster) => cluster.kubeconfig(),
        }
    }
}

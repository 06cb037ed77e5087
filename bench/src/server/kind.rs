use std::path::PathBuf;

use kube::Client;
use kubewright_testing::Settings;
use kubewright_testing::control_plane::{ControlPlane, Release};
use kubewright_testing::real::{Parts, RealCluster, RealOptions};

use super::embedded::Embedded;
use crate::command::ServerKind;
use crate::error::Error;
use crate::output;

/// An API server that holds the objects; dropped, it ends.
#[derive(Debug)]
pub(crate) enum Server {
    Real(Box<RealCluster>),
    Embedded(Embedded),
}

impl Server {
    /// Starts one without objects.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends what was started.
    pub(crate) async fn start(kind: ServerKind, settings: &Settings) -> Result<Self, Error> {
        match kind {
            ServerKind::Real => Self::real(Parts::ApiServer, settings).await,
            ServerKind::Embedded => {
                output::note("start an embedded API server");
                Embedded::start().await.map(Self::Embedded)
            }
        }
    }

    /// Starts a real one, with these programs beside it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends what was started.
    pub(crate) async fn real(parts: Parts, settings: &Settings) -> Result<Self, Error> {
        output::note("start a real control plane");
        let control_plane = ControlPlane::locate(Release::current(), settings).await?;
        let options = RealOptions {
            parts,
            ..RealOptions::default()
        };
        let cluster = RealCluster::start(&control_plane, &options).await?;
        Ok(Self::Real(Box::new(cluster)))
    }

    pub(crate) async fn client(&self) -> Result<Client, Error> {
        match self {
            Self::Real(cluster) => Ok(cluster.client().await?),
            Self::Embedded(cluster) => Ok(cluster.client()),
        }
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        match self {
            Self::Real(cluster) => cluster.kubeconfig(),
            Self::Embedded(cluster) => cluster.kubeconfig(),
        }
    }
}

//! An API server, real or embedded.

use std::path::PathBuf;

use kube::Client;
use kubewright_testing::Settings;
use kubewright_testing::control_plane::{ControlPlane, Release};
use kubewright_testing::real::{Components, RealCluster, RealOptions};

use super::embedded::EmbeddedServer;
use crate::command::ServerKind;
use crate::error::Error;
use crate::output;

/// An API server. Dropping the value stops it.
#[derive(Debug)]
pub(crate) enum ApiServer {
    Real(Box<RealCluster>),
    Embedded(EmbeddedServer),
}

impl ApiServer {
    /// Starts an API server without objects.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the server.
    pub(crate) async fn start(kind: ServerKind, settings: &Settings) -> Result<Self, Error> {
        match kind {
            ServerKind::Real => Self::real(Components::ApiServer, settings).await,
            ServerKind::Embedded => {
                output::note("start an embedded API server");
                EmbeddedServer::start().await.map(Self::Embedded)
            }
        }
    }

    /// Starts a real control plane with the programs that `parts` selects.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the server.
    pub(crate) async fn real(components: Components, settings: &Settings) -> Result<Self, Error> {
        output::note("start a real control plane");
        let control_plane = ControlPlane::locate(Release::current(), settings).await?;
        let options = RealOptions {
            components,
            ..RealOptions::default()
        };
        let cluster = RealCluster::start(&control_plane, &options).await?;
        Ok(Self::Real(Box::new(cluster)))
    }

    /// Returns a client with all permissions.
    pub(crate) async fn client(&self) -> Result<Client, Error> {
        match self {
            Self::Real(cluster) => Ok(cluster.client().await?),
            Self::Embedded(server) => Ok(server.client()),
        }
    }

    /// Returns the path of the kubeconfig.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        match self {
            Self::Real(cluster) => cluster.kubeconfig(),
            Self::Embedded(server) => server.kubeconfig(),
        }
    }
}

//! The cluster that the operator runs on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::config::{Kubeconfig, NamedCluster};
use kubewright_core::Revision;
use serde_json::json;
use tokio::sync::watch;

use super::arguments::{ClusterChoice, DevArguments};
use crate::cluster_access::ClusterAccess;
use crate::embedded::{EmbeddedCluster, EmbeddedOptions};
use crate::error::Error;
use crate::private_file::replace_private;

/// The interval at which a cluster is polled that does not announce its changes.
const POLL: Duration = Duration::from_millis(300);

/// The cluster that the operator runs on.
pub(super) struct DevCluster {
    backend: Backend,
    client: kube::Client,
    access: ClusterAccess,
}

enum Backend {
    Embedded(EmbeddedCluster),
    Real(kubewright_testing::Cluster),
    /// A cluster of the user, which is not stopped.
    Current,
}

impl DevCluster {
    /// Starts the cluster, or connects to the one of the kubeconfig.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops what it has started.
    pub(super) async fn start(arguments: &DevArguments, scratch: &Path) -> Result<Self, Error> {
        match arguments.cluster() {
            ClusterChoice::Embedded => {
                let cluster = EmbeddedCluster::start(EmbeddedOptions {
                    nodes: arguments.nodes,
                    ..EmbeddedOptions::default()
                })
                .await?;
                let kubeconfig = cluster.write_admin_kubeconfig(&scratch.join("admin.yaml"))?;
                Ok(Self {
                    client: cluster.admin(),
                    access: with_kubeconfig(kubeconfig),
                    backend: Backend::Embedded(cluster),
                })
            }
            ClusterChoice::Real => {
                let failed = |source| Error::RealCluster {
                    source: Box::new(source),
                };
                let builder = kubewright_testing::Cluster::real()
                    .nodes(arguments.nodes)
                    .dedicated();
                let cluster = builder.named("dev").start().await.map_err(failed)?;
                let access = with_kubeconfig(cluster.kubeconfig().map_err(failed)?);
                Ok(Self {
                    client: access.client().await?,
                    access,
                    backend: Backend::Real(cluster),
                })
            }
            ClusterChoice::Current => Ok(Self {
                client: arguments.access.client().await?,
                access: arguments.access.clone(),
                backend: Backend::Current,
            }),
        }
    }

    /// Returns a client with the permissions of the user.
    pub(super) fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// Returns the command line of `kubectl` for this cluster.
    pub(super) fn kubectl(&self) -> String {
        let kubeconfig = self.access.kubeconfig.as_ref();
        let file_flag = kubeconfig.map(|file| format!(" --kubeconfig {}", file.display()));
        let context = self.access.context.as_ref();
        let context_flag = context.map(|name| format!(" --context {name}"));
        format!(
            "kubectl{}{}",
            file_flag.unwrap_or_default(),
            context_flag.unwrap_or_default()
        )
    }

    /// Returns when to read the cluster again.
    pub(super) fn changes(&self) -> ClusterChanges {
        match &self.backend {
            Backend::Embedded(cluster) => ClusterChanges::Revisions(cluster.server().revisions()),
            Backend::Real(_) | Backend::Current => ClusterChanges::Every(POLL),
        }
    }

    /// Whether the API server can call a webhook on loopback of this machine.
    pub(super) fn is_on_this_machine(&self) -> Result<bool, Error> {
        let kubeconfig = self.access.kubeconfig()?;
        let server = self
            .cluster_in(&kubeconfig)
            .and_then(|named| named.cluster.as_ref()?.server.as_deref())
            .unwrap_or_default();
        let (_, host) = server.split_once("://").unwrap_or_default();
        let loopback = ["127.", "localhost", "[::1]"];
        Ok(loopback.iter().any(|start| host.starts_with(start)))
    }

    fn cluster_in<'a>(&self, kubeconfig: &'a Kubeconfig) -> Option<&'a NamedCluster> {
        let current = kubeconfig.current_context.as_ref();
        let name = self.access.context.as_ref().or(current);
        let context = kubeconfig
            .contexts
            .iter()
            .find(|context| Some(&context.name) == name)?;
        let name = &context.context.as_ref()?.cluster;
        kubeconfig
            .clusters
            .iter()
            .find(|cluster| cluster.name == *name)
    }

    /// Writes a kubeconfig for this cluster with the token as the credentials.
    pub(super) fn write_kubeconfig(&self, path: &Path, token: &str) -> Result<(), Error> {
        let kubeconfig = self.access.kubeconfig()?;
        let cluster = self.cluster_in(&kubeconfig);
        let name = cluster.map(|cluster| &cluster.name);
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [cluster],
            "users": [{"name": "operator", "user": {"token": token}}],
            "contexts": [{"name": "operator", "context": {"cluster": name, "user": "operator"}}],
            "current-context": "operator",
        });
        replace_private(path, &format!("{config:#}\n")).map_err(|source| Error::Kubeconfig {
            path: path.to_owned(),
            source,
        })
    }

    /// Stops the cluster, if it was started here.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends it at once.
    pub(super) async fn stop(self) -> Result<(), Error> {
        match self.backend {
            Backend::Embedded(cluster) => cluster.stop().await,
            Backend::Real(cluster) => cluster.close().await.map_err(|source| Error::RealCluster {
                source: Box::new(source),
            }),
            Backend::Current => Ok(()),
        }
    }
}

fn with_kubeconfig(kubeconfig: PathBuf) -> ClusterAccess {
    ClusterAccess {
        kubeconfig: Some(kubeconfig),
        context: None,
    }
}

/// Announces that the cluster may have changed.
pub(super) enum ClusterChanges {
    /// At each revision of the embedded cluster.
    Revisions(watch::Receiver<Revision>),
    /// At an interval.
    Every(Duration),
}

impl ClusterChanges {
    /// Marks all changes so far as seen.
    pub(super) fn mark_seen(&mut self) {
        if let Self::Revisions(revisions) = self {
            revisions.borrow_and_update();
        }
    }

    /// Waits until the cluster may have changed since `mark_seen`.
    ///
    /// # Cancel safety
    ///
    /// Safe: the next call returns for the same change.
    pub(super) async fn next(&mut self) {
        match self {
            Self::Every(interval) => tokio::time::sleep(*interval).await,
            Self::Revisions(revisions) => {
                // The sender is dropped only with the cluster, at the end of the session.
                if revisions.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        }
    }
}

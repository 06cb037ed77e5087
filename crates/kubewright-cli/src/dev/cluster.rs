use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::config::{Kubeconfig, NamedCluster};
use kubewright_core::Revision;
use serde_json::json;
use tokio::sync::watch;

use super::arguments::{Choice, DevArguments};
use crate::deploy::Access;
use crate::embedded::Embedded;
use crate::error::Error;
use crate::kubeconfig::write_private;

/// How often a cluster is looked at that does not say when something has changed.
const POLL: Duration = Duration::from_millis(300);

/// The cluster that the operator is run on.
pub(super) struct DevCluster {
    backend: Backend,
    client: kube::Client,
    access: Access,
}

enum Backend {
    Embedded(Embedded),
    Real(kubewright_testing::Cluster),
    /// Somebody else's, who also ends it.
    Current,
}

impl DevCluster {
    /// Starts the cluster, or reaches the one that is there.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends what it has started.
    pub(super) async fn start(arguments: &DevArguments, scratch: &Path) -> Result<Self, Error> {
        match arguments.choice() {
            Choice::Embedded => {
                let cluster = Embedded::start(arguments.nodes, 0).await?;
                let written = cluster.write_admin_kubeconfig(&scratch.join("admin.yaml"))?;
                Ok(Self {
                    client: cluster.admin(),
                    access: by_file(written),
                    backend: Backend::Embedded(cluster),
                })
            }
            Choice::Real => {
                let failed = |source| Error::RealCluster {
                    source: Box::new(source),
                };
                let builder = kubewright_testing::Cluster::real()
                    .nodes(arguments.nodes)
                    .own();
                let cluster = builder.named("dev").start().await.map_err(failed)?;
                let access = by_file(cluster.kubeconfig().map_err(failed)?);
                Ok(Self {
                    client: access.client().await?,
                    access,
                    backend: Backend::Real(cluster),
                })
            }
            Choice::Current => Ok(Self {
                client: arguments.access.client().await?,
                access: arguments.access.clone(),
                backend: Backend::Current,
            }),
        }
    }

    /// A client that may do what the person at the keyboard may.
    pub(super) fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// How the same person uses `kubectl` beside it.
    pub(super) fn kubectl(&self) -> String {
        let file = self.access.kubeconfig.as_ref();
        let file = file.map(|file| format!(" --kubeconfig {}", file.display()));
        let context = self.access.context.as_ref();
        let context = context.map(|name| format!(" --context {name}"));
        format!(
            "kubectl{}{}",
            file.unwrap_or_default(),
            context.unwrap_or_default()
        )
    }

    /// When to look again.
    pub(super) fn changes(&self) -> Changes {
        match &self.backend {
            Backend::Embedded(cluster) => Changes::Revisions(cluster.server().revisions()),
            Backend::Real(_) | Backend::Current => Changes::Every(POLL),
        }
    }

    /// Whether its API server can call what this machine serves on loopback.
    pub(super) fn is_on_this_machine(&self) -> Result<bool, Error> {
        let config = self.access.read()?;
        let cluster = self
            .cluster_of(&config)
            .and_then(|one| one.cluster.as_ref());
        let server = cluster
            .and_then(|cluster| cluster.server.as_deref())
            .unwrap_or_default();
        let (_, host) = server.split_once("://").unwrap_or_default();
        let on_loopback = ["127.", "localhost", "[::1]"];
        Ok(on_loopback.iter().any(|start| host.starts_with(start)))
    }

    fn cluster_of<'a>(&self, config: &'a Kubeconfig) -> Option<&'a NamedCluster> {
        let current = config.current_context.as_ref();
        let context = self.access.context.as_ref().or(current);
        let context = config
            .contexts
            .iter()
            .find(|one| Some(&one.name) == context)?;
        let name = &context.context.as_ref()?.cluster;
        config.clusters.iter().find(|one| one.name == *name)
    }

    /// Writes a kubeconfig for the same cluster and the owner of a token.
    pub(super) fn write_kubeconfig(&self, path: &Path, token: &str) -> Result<(), Error> {
        let config = self.access.read()?;
        let cluster = self.cluster_of(&config);
        let name = cluster.map(|cluster| &cluster.name);
        let text = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [cluster],
            "users": [{"name": "operator", "user": {"token": token}}],
            "contexts": [{"name": "operator", "context": {"cluster": name, "user": "operator"}}],
            "current-context": "operator",
        });
        write_private(path, &format!("{text:#}\n"))
    }

    /// Ends what was started.
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

fn by_file(kubeconfig: PathBuf) -> Access {
    Access {
        kubeconfig: Some(kubeconfig),
        context: None,
    }
}

/// Tells when a cluster may have changed.
pub(super) enum Changes {
    /// At each revision.
    Revisions(watch::Receiver<Revision>),
    /// Now and then.
    Every(Duration),
}

impl Changes {
    /// From now on, only what comes later counts.
    pub(super) fn seen(&mut self) {
        if let Self::Revisions(revisions) = self {
            revisions.borrow_and_update();
        }
    }

    /// Waits until something may have changed since `seen`.
    ///
    /// # Cancel safety
    ///
    /// Safe: the next call sees it.
    pub(super) async fn next(&mut self) {
        match self {
            Self::Every(pause) => tokio::time::sleep(*pause).await,
            Self::Revisions(revisions) => {
                // The server lives as long as the cluster.
                if revisions.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        }
    }
}

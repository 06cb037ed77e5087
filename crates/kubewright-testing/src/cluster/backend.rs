//! The backend of a test cluster: embedded, real or existing.

use std::path::PathBuf;
use std::time::Duration;

use kube::Client;
use kube::client::ClientBuilder;
use kubewright_apiserver::User;
use kubewright_cluster::PodControl;
use kubewright_core::{Clock, Revision};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::sleep;

use super::capability::Capability;
use super::embedded::Embedded;
use super::existing::{Existing, LABEL};
use super::forbidden::ForbiddenRequests;
use super::inert_kinds::InertKinds;
use super::pool::Lease;
use super::webhook_address::ApiServerLocation;
use crate::faults::{FaultInjector, FaultLayer};
use crate::real::Components;
use crate::{ClusterChoice, Error};

/// How long a restart of the embedded API server takes: about as long as that of a real one.
const RESTART_DURATION: Duration = Duration::from_secs(5);

/// The implementation of a [`Cluster`](super::Cluster).
#[derive(Debug)]
pub(super) enum Backend {
    Embedded(Embedded),
    Real(Lease),
    Existing(Existing),
}

impl Backend {
    pub(super) fn capabilities(&self) -> &'static [Capability] {
        match self {
            Self::Embedded(_) => Capability::of(ClusterChoice::Embedded),
            Self::Real(lease) => Capability::of_real(lease.cluster().options().components),
            Self::Existing(_) => Capability::of(ClusterChoice::Existing),
        }
    }

    pub(super) fn choice(&self) -> ClusterChoice {
        match self {
            Self::Embedded(_) => ClusterChoice::Embedded,
            Self::Real(_) => ClusterChoice::Real,
            Self::Existing(_) => ClusterChoice::Existing,
        }
    }

    /// Where the API server runs that calls webhooks of this process.
    pub(super) fn location(&self) -> Result<ApiServerLocation, Error> {
        match self {
            Self::Embedded(_) => Ok(ApiServerLocation::SameProcess),
            Self::Real(_) => Ok(ApiServerLocation::SameMachine),
            Self::Existing(existing) => existing.webhook_host().map(ApiServerLocation::Remote),
        }
    }

    /// Whether a controller creates the ServiceAccount of a new namespace.
    pub(super) fn creates_accounts(&self) -> bool {
        match self {
            Self::Embedded(embedded) => embedded.creates_accounts(),
            Self::Existing(_) => true,
            Self::Real(lease) => lease.cluster().options().components >= Components::Controllers,
        }
    }

    /// Whether it was started with nodes that run Pods.
    pub(super) fn has_nodes(&self) -> bool {
        match self {
            Self::Embedded(embedded) => embedded.components() >= Components::Nodes,
            Self::Real(lease) => lease.cluster().options().components >= Components::Nodes,
            Self::Existing(existing) => existing.simulates_nodes(),
        }
    }

    /// Whether a Deployment of the cluster runs the operator under test.
    pub(super) fn runs_operator(&self) -> bool {
        matches!(self, Self::Existing(existing) if existing.runs_operator())
    }

    /// Whether this is the first call on a cluster that runs the operator under test.
    pub(super) fn is_first_run(&self) -> bool {
        matches!(self, Self::Existing(existing) if existing.is_first_run())
    }

    /// Deletes an object at the end of the test, if the cluster outlives the test.
    pub(super) fn delete_at_end(&self, path: &str) {
        if let Self::Existing(existing) = self {
            existing.delete_at_end(path);
        }
    }

    pub(super) fn process_ids(&self) -> Vec<u32> {
        match self {
            Self::Embedded(_) | Self::Existing(_) => Vec::new(),
            Self::Real(lease) => lease.cluster().process_ids(),
        }
    }

    pub(super) fn clock(&self) -> Clock {
        match self {
            Self::Embedded(embedded) => embedded.clock(),
            Self::Real(_) | Self::Existing(_) => Clock::system(),
        }
    }

    /// The current revision of the embedded cluster.
    pub(super) fn revisions(&self) -> Option<watch::Receiver<Revision>> {
        match self {
            Self::Embedded(embedded) => Some(embedded.revisions()),
            Self::Real(_) | Self::Existing(_) => None,
        }
    }

    /// The written kinds that no controller of the embedded cluster acts on.
    pub(super) fn inert_kinds(&self) -> Option<&InertKinds> {
        match self {
            Self::Embedded(embedded) => Some(embedded.inert_kinds()),
            Self::Real(_) | Self::Existing(_) => None,
        }
    }

    /// Controls what the kubelets of the embedded cluster do with Pods.
    pub(super) fn pods(&self) -> Option<PodControl> {
        match self {
            Self::Embedded(embedded) => Some(embedded.pods()),
            Self::Real(_) | Self::Existing(_) => None,
        }
    }

    pub(super) fn kubeconfig(&self) -> Result<PathBuf, Error> {
        match self {
            Self::Embedded(embedded) => embedded.kubeconfig(),
            Self::Real(lease) => Ok(lease.cluster().kubeconfig()),
            Self::Existing(existing) => existing.kubeconfig(),
        }
    }

    /// A client that sends requests as `user` with `namespace` as the default namespace. Records
    /// its forbidden requests, and injects the faults of `fault_layer`.
    pub(super) async fn client(
        &self,
        user: &User,
        namespace: &str,
        forbidden: &ForbiddenRequests,
        fault_layer: &FaultLayer,
    ) -> Result<Client, Error> {
        let lease = match self {
            Self::Embedded(embedded) => {
                return Ok(embedded.client(user, namespace, forbidden, fault_layer));
            }
            Self::Existing(existing) => {
                return existing
                    .client(user, namespace, forbidden, fault_layer)
                    .await;
            }
            Self::Real(lease) => lease,
        };
        let cluster = lease.cluster();
        let access = match user.as_service_account() {
            Some((namespace, name)) => cluster.access_for_account(namespace, name).await?,
            None => cluster.access(user)?,
        };
        let mut config = access.config().await?;
        namespace.clone_into(&mut config.default_namespace);
        let builder = ClientBuilder::try_from(config).map_err(Error::client(&user.name))?;
        Ok(builder
            .with_layer(forbidden)
            .with_layer(fault_layer)
            .build())
    }

    /// Restarts the API server. The embedded one has no process of its own: for a while, requests
    /// of operators fail, and their connections are closed.
    pub(super) async fn restart_server(&self, injector: &FaultInjector) -> Result<(), Error> {
        match self {
            Self::Embedded(_) => {
                let outage = injector.start_outage();
                sleep(RESTART_DURATION).await;
                drop(outage);
                Ok(())
            }
            Self::Real(lease) => lease.cluster().restart_api_server().await,
            Self::Existing(_) => Err(Error::Unsupported {
                operation: "restart the API server".to_owned(),
                reason: "tests share an existing cluster; name the capability Restarts",
            }),
        }
    }

    /// Labels an object that is outside of the test's namespace and deletes it at the end of the
    /// test, if the cluster outlives the test. Fails if the object exists and no test created it.
    pub(super) async fn claim(&self, object: &mut Value, path: &str) -> Result<(), Error> {
        let Self::Existing(existing) = self else {
            return Ok(());
        };
        object["metadata"]["labels"][LABEL] = Value::from("true");
        let kind = object["kind"].as_str().unwrap_or_default();
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        existing.claim(&format!("{kind} {name}"), path).await
    }

    /// Ends the tasks of this runtime, and prepares a pooled cluster for the next test.
    pub(super) async fn close(&self) -> Result<(), Error> {
        match self {
            Self::Embedded(embedded) => {
                embedded.stop().await;
                Ok(())
            }
            Self::Real(lease) => lease.give_back().await,
            Self::Existing(existing) => existing.clean_up().await,
        }
    }
}

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
use super::pool::Lease;
use super::reach::Reach;
use super::refusals::Refusals;
use super::unmoved::Unmoved;
use crate::faults::{Door, Script};
use crate::real::Parts;
use crate::{Choice, Error};

/// About as long as a real API server takes to start.
const AWAY: Duration = Duration::from_secs(5);

/// What stands behind a [`Cluster`](super::Cluster).
#[derive(Debug)]
pub(super) enum Backend {
    Embedded(Embedded),
    Real(Lease),
    Existing(Existing),
}

impl Backend {
    pub(super) fn capabilities(&self) -> &'static [Capability] {
        match self {
            Self::Embedded(_) => Capability::of(Choice::Embedded),
            Self::Real(lease) => Capability::of_real(lease.cluster().options().parts),
            Self::Existing(_) => Capability::of(Choice::Existing),
        }
    }

    pub(super) fn choice(&self) -> Choice {
        match self {
            Self::Embedded(_) => Choice::Embedded,
            Self::Real(_) => Choice::Real,
            Self::Existing(_) => Choice::Existing,
        }
    }

    /// From where its API server calls webhooks of this process.
    pub(super) fn reach(&self) -> Result<Reach, Error> {
        match self {
            Self::Embedded(_) => Ok(Reach::Process),
            Self::Real(_) => Ok(Reach::Machine),
            Self::Existing(existing) => existing.webhook_host().map(Reach::Host),
        }
    }

    /// Whether ServiceAccounts of new namespaces appear by themselves.
    pub(super) fn makes_accounts(&self) -> bool {
        match self {
            Self::Embedded(embedded) => embedded.makes_accounts(),
            Self::Existing(_) => true,
            Self::Real(lease) => lease.cluster().options().parts >= Parts::Controllers,
        }
    }

    /// Whether it was started with nodes, so that Pods on them run.
    pub(super) fn has_nodes(&self) -> bool {
        match self {
            Self::Embedded(embedded) => embedded.parts() >= Parts::Nodes,
            Self::Real(lease) => lease.cluster().options().parts >= Parts::Nodes,
            Self::Existing(existing) => existing.simulates_nodes(),
        }
    }

    /// Whether the operator under test is one that the cluster runs.
    pub(super) fn runs_operator(&self) -> bool {
        matches!(self, Self::Existing(existing) if existing.runs_operator())
    }

    /// Whether nobody has asked yet for an operator that the cluster runs; asked once, it is no.
    pub(super) fn is_first_run(&self) -> bool {
        matches!(self, Self::Existing(existing) if existing.is_first_run())
    }

    /// Makes an object that the test has made outside its namespace go with it, where the cluster
    /// stays.
    pub(super) fn remember(&self, path: &str) {
        if let Self::Existing(existing) = self {
            existing.remember(path);
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

    /// Changes at each write, where the cluster says so.
    pub(super) fn revisions(&self) -> Option<watch::Receiver<Revision>> {
        match self {
            Self::Embedded(embedded) => Some(embedded.revisions()),
            Self::Real(_) | Self::Existing(_) => None,
        }
    }

    /// What was written that nothing acts on, where the cluster is not a whole one.
    pub(super) fn unmoved(&self) -> Option<&Unmoved> {
        match self {
            Self::Embedded(embedded) => Some(embedded.unmoved()),
            Self::Real(_) | Self::Existing(_) => None,
        }
    }

    /// What decides the fate of Pods, where the cluster's kubelets are ours.
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

    /// A client that calls as `user` and means `namespace` when it names none; what the server
    /// refuses it is noted in `refusals`, what goes wrong on purpose does so at `door`.
    pub(super) async fn client(
        &self,
        user: &User,
        namespace: &str,
        refusals: &Refusals,
        door: &Door,
    ) -> Result<Client, Error> {
        let lease = match self {
            Self::Embedded(embedded) => {
                return Ok(embedded.client(user, namespace, refusals, door));
            }
            Self::Existing(existing) => {
                return existing.client(user, namespace, refusals, door).await;
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
        let builder = ClientBuilder::try_from(config).map_err(|source| Error::Client {
            user: user.name.clone(),
            source: source.into(),
        })?;
        Ok(builder.with_layer(refusals).with_layer(door).build())
    }

    /// Restarts the API server. The embedded one has no process of its own: it answers the
    /// operators nothing for a while, and forgets their connections.
    pub(super) async fn restart_server(&self, script: &Script) -> Result<(), Error> {
        match self {
            Self::Embedded(_) => {
                let away = script.go_away();
                sleep(AWAY).await;
                drop(away);
                Ok(())
            }
            Self::Real(lease) => lease.cluster().restart_api_server().await,
            Self::Existing(_) => Err(Error::Unsupported {
                asked: "restart the API server".to_owned(),
                why: "an existing cluster is not the test's own; name the capability Restarts",
            }),
        }
    }

    /// Makes an object that is in no namespace of the test's go with the test, where the cluster
    /// stays; there, somebody else's is refused.
    pub(super) async fn claim(&self, object: &mut Value, path: &str) -> Result<(), Error> {
        let Self::Existing(existing) = self else {
            return Ok(());
        };
        object["metadata"]["labels"][LABEL] = Value::from("true");
        let (kind, name) = (&object["kind"], &object["metadata"]["name"]);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let what = format!("{} {}", text(kind), text(name));
        existing.claim(&what, path).await
    }

    /// Ends what lives on this runtime and, for a pooled cluster, makes it fit for the next test.
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

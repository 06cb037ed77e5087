use std::collections::HashMap;
use std::time::Duration;

use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

use super::accounts::Accounts;
use super::controller::drive;
use super::garbage::GarbageCollector;
use super::kubelet::Kubelet;
use super::namespaces::Namespaces;
use super::node_taints::NodeTaints;
use super::pod_cleanup::PodCleanup;
use super::scheduler::Scheduler;
use super::{Behaviour, Behaviours, Cluster};
use crate::server::Server;

/// A controller that fell over is started again after this long.
const RESTART: Duration = Duration::from_secs(1);

impl Server {
    /// Does what a cluster does by itself, until it is cancelled: schedules and runs Pods,
    /// collects garbage, finishes the deletion of namespaces, makes service accounts.
    ///
    /// # Cancel safety
    ///
    /// Dropping this stops everything; each write has then happened whole or not at all, and a
    /// later run goes on from what is stored.
    pub async fn run(&self, cancel: CancellationToken) {
        self.run_behaviours(&Behaviours::all(), cancel).await;
    }

    /// Like [`Server::run`], for some of what a cluster does.
    ///
    /// # Cancel safety
    ///
    /// As for [`Server::run`].
    pub async fn run_behaviours(&self, behaviours: &Behaviours, cancel: CancellationToken) {
        let mut tasks = JoinSet::new();
        let mut names = HashMap::new();
        let start = |tasks: &mut JoinSet<()>, names: &mut HashMap<Id, Behaviour>, one| {
            let task = spawn(tasks, self, behaviours, one, cancel.clone());
            names.insert(task, one);
        };
        for behaviour in behaviours.enabled() {
            start(&mut tasks, &mut names, behaviour);
        }
        while let Some(ended) = tasks.join_next_with_id().await {
            let Err(error) = ended else {
                continue;
            };
            let Some(behaviour) = names.remove(&error.id()) else {
                continue;
            };
            tracing::error!(?behaviour, %error, "a part of the cluster fell over: starting it again");
            tokio::select! {
                () = cancel.cancelled() => {}
                () = tokio::time::sleep(RESTART) => start(&mut tasks, &mut names, behaviour),
            }
        }
    }
}

fn spawn(
    tasks: &mut JoinSet<()>,
    server: &Server,
    behaviours: &Behaviours,
    behaviour: Behaviour,
    cancel: CancellationToken,
) -> Id {
    let part = |user: &str, manager| Cluster::new(server.clone(), user, manager);
    let controller = |account: &str| {
        let user = format!("system:serviceaccount:kube-system:{account}");
        part(&user, "kube-controller-manager")
    };
    let task = match behaviour {
        Behaviour::Scheduler => {
            let cluster = part("system:kube-scheduler", "kube-scheduler");
            tasks.spawn(drive(cluster, Scheduler::default, cancel))
        }
        Behaviour::Kubelet => {
            // Each write names the node it is made for.
            let cluster = part("system:node:", "kubelet");
            tasks.spawn(drive(cluster, Kubelet::default, cancel))
        }
        Behaviour::GarbageCollector => {
            let cluster = controller("generic-garbage-collector");
            tasks.spawn(drive(cluster, GarbageCollector::default, cancel))
        }
        Behaviour::NamespaceDeletion => {
            let cluster = controller("namespace-controller");
            tasks.spawn(drive(cluster, Namespaces::default, cancel))
        }
        Behaviour::ServiceAccounts => {
            let cluster = controller("service-account-controller");
            let certificate = behaviours.root_certificate_pem().to_owned();
            let make = move || Accounts::new(certificate.clone());
            tasks.spawn(drive(cluster, make, cancel))
        }
        Behaviour::NodeTaints => {
            let cluster = controller("node-controller");
            tasks.spawn(drive(cluster, NodeTaints::default, cancel))
        }
        Behaviour::PodCleanup => {
            let cluster = controller("pod-garbage-collector");
            tasks.spawn(drive(cluster, PodCleanup::default, cancel))
        }
    };
    task.id()
}

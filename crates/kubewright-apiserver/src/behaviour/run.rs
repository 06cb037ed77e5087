use std::collections::HashMap;
use std::time::Duration;

use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

use super::accounts::Accounts;
use super::budget::Budgets;
use super::controller::drive;
use super::deployment::Deployments;
use super::endpoints::EndpointSlices;
use super::garbage::GarbageCollector;
use super::kubelet::{Heartbeats, Kubelet};
use super::namespaces::Namespaces;
use super::node_health::NodeHealth;
use super::node_taints::NodeTaints;
use super::pod_cleanup::PodCleanup;
use super::replica_set::ReplicaSets;
use super::resource_quota::ResourceQuotas;
use super::role_aggregation::RoleAggregation;
use super::scheduler::Scheduler;
use super::taint_eviction::TaintEviction;
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
            if let Some(task) = spawn(tasks, self, behaviours, one, cancel.clone()) {
                names.insert(task, one);
            }
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

/// The name under which a part writes, and the one under which it tells what it did.
type Names = (&'static str, &'static str);

fn spawn(
    tasks: &mut JoinSet<()>,
    server: &Server,
    behaviours: &Behaviours,
    behaviour: Behaviour,
    cancel: CancellationToken,
) -> Option<Id> {
    let speaking = |cluster: Cluster, component| match behaviours.has(Behaviour::Events) {
        true => cluster.reporting_as(component),
        false => cluster,
    };
    let part = |user: &str, manager, component| {
        speaking(Cluster::new(server.clone(), user, manager), component)
    };
    let controller = |(account, component): Names| {
        let user = format!("system:serviceaccount:kube-system:{account}");
        part(&user, "kube-controller-manager", component)
    };
    let scheduler = || {
        part(
            "system:kube-scheduler",
            "kube-scheduler",
            "default-scheduler",
        )
    };
    // Each write names the node it is made for.
    let kubelet = || part("system:node:", "kubelet", "kubelet");
    let node = ("node-controller", "node-controller");
    let orders = server.orders().clone();
    let task = match behaviour {
        Behaviour::Events => return None,
        Behaviour::Scheduler => tasks.spawn(drive(scheduler(), Scheduler::default, cancel)),
        Behaviour::Kubelet => tasks.spawn(drive(kubelet(), move || Kubelet::new(&orders), cancel)),
        Behaviour::Heartbeats => {
            tasks.spawn(drive(kubelet(), move || Heartbeats::new(&orders), cancel))
        }
        Behaviour::GarbageCollector => {
            let names = ("generic-garbage-collector", "garbage-collector-controller");
            tasks.spawn(drive(controller(names), GarbageCollector::default, cancel))
        }
        Behaviour::NamespaceDeletion => {
            let names = ("namespace-controller", "namespace-controller");
            tasks.spawn(drive(controller(names), Namespaces::default, cancel))
        }
        Behaviour::ServiceAccounts => {
            let cluster = controller(("service-account-controller", ""));
            let certificate = behaviours.root_certificate_pem().to_owned();
            let make = move || Accounts::new(certificate.clone());
            tasks.spawn(drive(cluster, make, cancel))
        }
        Behaviour::NodeTaints => tasks.spawn(drive(controller(node), NodeTaints::default, cancel)),
        Behaviour::NodeHealth => tasks.spawn(drive(controller(node), NodeHealth::default, cancel)),
        Behaviour::TaintEviction => {
            let names = ("node-controller", "taint-eviction-controller");
            tasks.spawn(drive(controller(names), TaintEviction::default, cancel))
        }
        Behaviour::PodCleanup => {
            let names = ("pod-garbage-collector", "pod-garbage-collector");
            tasks.spawn(drive(controller(names), PodCleanup::default, cancel))
        }
        Behaviour::ReplicaSets => {
            let names = ("replicaset-controller", "replicaset-controller");
            tasks.spawn(drive(controller(names), ReplicaSets::default, cancel))
        }
        Behaviour::Deployments => {
            let names = ("deployment-controller", "deployment-controller");
            tasks.spawn(drive(controller(names), Deployments::default, cancel))
        }
        Behaviour::EndpointSlices => {
            let names = ("endpointslice-controller", "endpoint-slice-controller");
            tasks.spawn(drive(controller(names), EndpointSlices::default, cancel))
        }
        Behaviour::DisruptionBudgets => {
            let names = ("disruption-controller", "controllermanager");
            tasks.spawn(drive(controller(names), Budgets::default, cancel))
        }
        Behaviour::ResourceQuotas => {
            let names = ("resourcequota-controller", "resourcequota-controller");
            tasks.spawn(drive(controller(names), ResourceQuotas::default, cancel))
        }
        Behaviour::RoleAggregation => {
            let name = "clusterrole-aggregation-controller";
            let user = format!("system:serviceaccount:kube-system:{name}");
            let cluster = part(&user, name, name);
            tasks.spawn(drive(cluster, RoleAggregation::default, cancel))
        }
    };
    Some(task.id())
}

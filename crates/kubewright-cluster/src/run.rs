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
use super::orders::OrderBook;
use super::pod_cleanup::PodCleanup;
use super::replica_set::ReplicaSets;
use super::resource_quota::ResourceQuotas;
use super::role_aggregation::RoleAggregation;
use super::scheduler::Scheduler;
use super::taint_eviction::TaintEviction;
use super::{Client, ControllerName, Controllers};
use kubewright_apiserver::Server;

/// A controller that fell over is started again after this long.
const RESTART: Duration = Duration::from_secs(1);

/// Runs controllers until cancelled. One that panics is started again.
pub(super) async fn run(
    server: &Server,
    orders: &OrderBook,
    controllers: &Controllers,
    cancel: CancellationToken,
) {
    let mut tasks = JoinSet::new();
    let mut names = HashMap::new();
    let start = |tasks: &mut JoinSet<()>, names: &mut HashMap<Id, ControllerName>, name| {
        let place = Place {
            server,
            orders,
            controllers,
        };
        if let Some(task) = spawn(tasks, &place, name, cancel.clone()) {
            names.insert(task, name);
        }
    };
    for name in controllers.enabled() {
        start(&mut tasks, &mut names, name);
    }
    while let Some(ended) = tasks.join_next_with_id().await {
        let Err(error) = ended else {
            continue;
        };
        let Some(controller) = names.remove(&error.id()) else {
            continue;
        };
        tracing::error!(?controller, %error, "a controller panicked: starting it again");
        tokio::select! {
            () = cancel.cancelled() => {}
            () = tokio::time::sleep(RESTART) => start(&mut tasks, &mut names, controller),
        }
    }
}

/// Where controllers are started.
struct Place<'a> {
    server: &'a Server,
    orders: &'a OrderBook,
    controllers: &'a Controllers,
}

/// The name under which a part writes, and the one under which it tells what it did.
type Names = (&'static str, &'static str);

fn spawn(
    tasks: &mut JoinSet<()>,
    place: &Place<'_>,
    name: ControllerName,
    cancel: CancellationToken,
) -> Option<Id> {
    let Place {
        server,
        orders,
        controllers,
    } = *place;
    let speaking = |cluster: Client, component| match controllers.has(ControllerName::Events) {
        true => cluster.reporting_as(component),
        false => cluster,
    };
    let part = |user: &str, manager, component| {
        speaking(Client::new(server.clone(), user, manager), component)
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
    let orders = orders.clone();
    let task = match name {
        ControllerName::Events => return None,
        ControllerName::Scheduler => tasks.spawn(drive(scheduler(), Scheduler::default, cancel)),
        ControllerName::Kubelet => {
            tasks.spawn(drive(kubelet(), move || Kubelet::new(&orders), cancel))
        }
        ControllerName::Heartbeats => {
            tasks.spawn(drive(kubelet(), move || Heartbeats::new(&orders), cancel))
        }
        ControllerName::GarbageCollector => {
            let names = ("generic-garbage-collector", "garbage-collector-controller");
            tasks.spawn(drive(controller(names), GarbageCollector::default, cancel))
        }
        ControllerName::NamespaceDeletion => {
            let names = ("namespace-controller", "namespace-controller");
            tasks.spawn(drive(controller(names), Namespaces::default, cancel))
        }
        ControllerName::ServiceAccounts => {
            let cluster = controller(("service-account-controller", ""));
            let certificate = controllers.root_certificate_pem().to_owned();
            let make = move || Accounts::new(certificate.clone());
            tasks.spawn(drive(cluster, make, cancel))
        }
        ControllerName::NodeTaints => {
            tasks.spawn(drive(controller(node), NodeTaints::default, cancel))
        }
        ControllerName::NodeHealth => {
            tasks.spawn(drive(controller(node), NodeHealth::default, cancel))
        }
        ControllerName::TaintEviction => {
            let names = ("node-controller", "taint-eviction-controller");
            tasks.spawn(drive(controller(names), TaintEviction::default, cancel))
        }
        ControllerName::PodCleanup => {
            let names = ("pod-garbage-collector", "pod-garbage-collector");
            tasks.spawn(drive(controller(names), PodCleanup::default, cancel))
        }
        ControllerName::ReplicaSets => {
            let names = ("replicaset-controller", "replicaset-controller");
            tasks.spawn(drive(controller(names), ReplicaSets::default, cancel))
        }
        ControllerName::Deployments => {
            let names = ("deployment-controller", "deployment-controller");
            tasks.spawn(drive(controller(names), Deployments::default, cancel))
        }
        ControllerName::EndpointSlices => {
            let names = ("endpointslice-controller", "endpoint-slice-controller");
            tasks.spawn(drive(controller(names), EndpointSlices::default, cancel))
        }
        ControllerName::DisruptionBudgets => {
            let names = ("disruption-controller", "controllermanager");
            tasks.spawn(drive(controller(names), Budgets::default, cancel))
        }
        ControllerName::ResourceQuotas => {
            let names = ("resourcequota-controller", "resourcequota-controller");
            tasks.spawn(drive(controller(names), ResourceQuotas::default, cancel))
        }
        ControllerName::RoleAggregation => {
            let name = "clusterrole-aggregation-controller";
            let user = format!("system:serviceaccount:kube-system:{name}");
            let cluster = part(&user, name, name);
            tasks.spawn(drive(cluster, RoleAggregation::default, cancel))
        }
    };
    Some(task.id())
}

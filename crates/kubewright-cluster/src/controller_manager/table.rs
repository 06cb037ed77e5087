//! The table of controllers.
//!
//! A new controller is one module in `controllers/` and one entry here. Names are those of
//! cmd/kube-controller-manager/names; the service account and the event component are those that
//! the controller uses in Kubernetes.

use super::entry::{ControllerEntry, StartFn, start_default};
use crate::controllers::{
    ClusterRoleAggregationController, DeploymentController, DisruptionController,
    EndpointSliceController, GarbageCollector, NamespaceController, NodeLifecycleController,
    PodGarbageCollector, ReplicaSetController, ResourceQuotaController, RootCaCertPublisher,
    ServiceAccountController, TaintEvictionController,
};
use crate::framework::{Identity, run_loop};
use crate::kubelet::{Heartbeat, Kubelet};
use crate::scheduler::Scheduler;

/// Every controller, with the scheduler and the kubelets.
pub(super) static CONTROLLERS: [ControllerEntry; 16] = [
    // Assigns Pods to nodes.
    ControllerEntry {
        name: "kube-scheduler",
        identity: Identity::User("system:kube-scheduler"),
        field_manager: "kube-scheduler",
        event_component: "default-scheduler",
        start: start_default::<Scheduler>,
    },
    // Makes nodes ready, and runs, restarts and ends their Pods.
    kubelet("kubelet", |context, client, cancel| {
        let settings = context.kubelet_settings.clone();
        Box::pin(run_loop(client, move || Kubelet::new(&settings), cancel))
    }),
    // Renews the Leases of nodes every ten seconds, and reports their status every five minutes.
    kubelet("kubelet-heartbeat", |context, client, cancel| {
        let settings = context.kubelet_settings.clone();
        Box::pin(run_loop(client, move || Heartbeat::new(&settings), cancel))
    }),
    // Deletes objects without owners; finishes foreground and orphaning deletions.
    ControllerEntry {
        identity: Identity::ServiceAccount("generic-garbage-collector"),
        ..controller(
            "garbage-collector-controller",
            start_default::<GarbageCollector>,
        )
    },
    // Deletes the content of terminating namespaces, then the namespaces.
    controller("namespace-controller", start_default::<NamespaceController>),
    // Creates the ServiceAccount `default` of each namespace.
    ControllerEntry {
        identity: Identity::ServiceAccount("service-account-controller"),
        ..controller(
            "serviceaccount-controller",
            start_default::<ServiceAccountController>,
        )
    },
    // Creates the ConfigMap `kube-root-ca.crt` of each namespace.
    ControllerEntry {
        identity: Identity::ServiceAccount("root-ca-cert-publisher"),
        ..controller(
            "root-ca-certificate-publisher-controller",
            |context, client, cancel| {
                let pem = context.root_certificate_pem.clone();
                let new_loop = move || RootCaCertPublisher::new(pem.clone());
                Box::pin(run_loop(client, new_loop, cancel))
            },
        )
    },
    // Marks nodes without heartbeats for 50 seconds as unreachable, and taints nodes by condition.
    ControllerEntry {
        identity: Identity::ServiceAccount("node-controller"),
        event_component: "node-controller",
        ..controller(
            "node-lifecycle-controller",
            start_default::<NodeLifecycleController>,
        )
    },
    // Deletes Pods that do not tolerate a NoExecute taint of their node.
    ControllerEntry {
        identity: Identity::ServiceAccount("node-controller"),
        ..controller(
            "taint-eviction-controller",
            start_default::<TaintEvictionController>,
        )
    },
    // Deletes Pods whose node no longer exists.
    ControllerEntry {
        identity: Identity::ServiceAccount("pod-garbage-collector"),
        event_component: "pod-garbage-collector",
        ..controller(
            "pod-garbage-collector-controller",
            start_default::<PodGarbageCollector>,
        )
    },
    // Creates and deletes the Pods of ReplicaSets.
    controller(
        "replicaset-controller",
        start_default::<ReplicaSetController>,
    ),
    // Creates and resizes the ReplicaSets of Deployments.
    controller(
        "deployment-controller",
        start_default::<DeploymentController>,
    ),
    // Writes the EndpointSlices of Services.
    ControllerEntry {
        event_component: "endpoint-slice-controller",
        ..controller(
            "endpointslice-controller",
            start_default::<EndpointSliceController>,
        )
    },
    // Counts how many Pods of each PodDisruptionBudget may be evicted.
    ControllerEntry {
        event_component: "controllermanager",
        ..controller(
            "disruption-controller",
            start_default::<DisruptionController>,
        )
    },
    // Fills ClusterRoles that have an aggregation rule.
    ControllerEntry {
        field_manager: "clusterrole-aggregation-controller",
        ..controller(
            "clusterrole-aggregation-controller",
            start_default::<ClusterRoleAggregationController>,
        )
    },
    // Counts what each namespace with a ResourceQuota uses.
    controller(
        "resourcequota-controller",
        start_default::<ResourceQuotaController>,
    ),
];

/// A controller of kube-controller-manager whose service account and event component have its
/// name.
const fn controller(name: &'static str, start: StartFn) -> ControllerEntry {
    ControllerEntry {
        name,
        identity: Identity::ServiceAccount(name),
        field_manager: "kube-controller-manager",
        event_component: name,
        start,
    }
}

/// A loop of the kubelets. Each of its writes is made as the user of a node.
const fn kubelet(name: &'static str, start: StartFn) -> ControllerEntry {
    ControllerEntry {
        name,
        identity: Identity::User("system:node:"),
        field_manager: "kubelet",
        event_component: "kubelet",
        start,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::CONTROLLERS;

    #[test]
    fn controller_names_are_unique() {
        let names: BTreeSet<_> = CONTROLLERS.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), CONTROLLERS.len());
    }
}

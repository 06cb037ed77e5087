//! Methods of a cluster that inject faults and control Pods.

use std::panic::Location;

use k8s_openapi::api::core::v1::Pod;
use kubewright_cluster::{PodControl, PodSelector};
use serde_json::{Value, json};

use super::failure::{Chain, fail};
use super::handle::Cluster;
use crate::faults::{Fault, Injected, WatchEnd};

impl Cluster {
    /// Injects a fault into requests of the operators under test.
    ///
    /// A fault that never happens fails the test at its end, because the test did not cover it.
    pub fn inject(&self, fault: Fault) -> Injected {
        self.require_own_operator("inject a fault into");
        self.shared.injector.inject(fault)
    }

    /// Waits until a fault has happened.
    ///
    /// # Panics
    ///
    /// When it has not happened within the timeout of [`eventually`](Self::eventually).
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    #[track_caller]
    pub fn wait_for_fault(&self, fault: &Injected) -> impl Future<Output = ()> {
        self.eventually(fault.to_string(), async |_: &Self| fault.count() > 0)
    }

    /// Closes the connections of the operators' open watches of a resource, such as `pods`.
    ///
    /// # Panics
    ///
    /// When no watch is open.
    #[track_caller]
    pub fn cut_watches(&self, resource: &str) {
        self.end_watches(resource, WatchEnd::Cut);
    }

    /// Ends the operators' open watches of a resource as an API server does that has compacted
    /// their revision: with an `ERROR` event of status 410.
    ///
    /// # Panics
    ///
    /// When no watch is open.
    #[track_caller]
    pub fn expire_watches(&self, resource: &str) {
        self.end_watches(resource, WatchEnd::Expired);
    }

    #[track_caller]
    fn end_watches(&self, resource: &str, end: WatchEnd) {
        self.require_own_operator("end the watches of");
        if self.shared.injector.end_watches(resource, end) == 0 {
            let location = Location::caller();
            fail(
                location,
                format_args!("end the watches of {resource}: the operator has none"),
            );
        }
    }

    /// Restarts the API server while operators run: their connections are closed, and their
    /// requests fail until it has started. Stored objects are kept. A test that uses this needs
    /// `Restarts`.
    ///
    /// # Panics
    ///
    /// When the cluster is an existing one, and when the server does not start.
    ///
    /// # Cancel safety
    ///
    /// When dropped, a real API server may still be starting.
    #[track_caller]
    pub fn restart_server(&self) -> impl Future<Output = ()> {
        let location = Location::caller();
        async move {
            let restarted = self.shared.backend.restart_server(&self.shared.injector);
            if let Err(error) = self.shared.forbidden.ignore_during(restarted).await {
                fail(location, Chain(&error));
            }
        }
    }

    /// The write requests of operators under test so far, without Events: verb, resource, namespace
    /// and name of each.
    pub fn writes(&self) -> Vec<String> {
        self.require_own_operator("count the writes of");
        self.shared.injector.writes()
    }

    /// Fails a Pod as a kubelet does that rejects or evicts it: phase `Failed` with this reason
    /// (`OutOfpods`, `Evicted`).
    ///
    /// # Panics
    ///
    /// When the request fails.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been sent.
    #[track_caller]
    pub fn fail_pod(&self, name: &str, reason: &str) -> impl Future<Output = ()> {
        let status = json!({ "phase": "Failed", "reason": reason, "message": "by a test" });
        self.patch_pod_status(name, status, false)
    }

    /// Sets whether a running Pod is ready.
    ///
    /// # Panics
    ///
    /// When the request fails.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been sent.
    #[track_caller]
    pub fn set_pod_ready(&self, name: &str, is_ready: bool) -> impl Future<Output = ()> {
        self.patch_pod_status(name, json!({}), is_ready)
    }

    #[track_caller]
    fn patch_pod_status(
        &self,
        name: &str,
        mut status: Value,
        is_ready: bool,
    ) -> impl Future<Output = ()> {
        let location = Location::caller();
        let path = format!("/api/v1/namespaces/{}/pods/{name}/status", self.namespace);
        async move {
            let patched = async {
                let pod = self.read(&path).await?;
                self.set_readiness_of_kubelet(&pod, is_ready);
                status["conditions"] = self.with_ready(&pod, is_ready);
                self.send("PATCH", &path, &json!({ "status": status }))
                    .await
            };
            if let Err(error) = patched.await {
                fail(location, format_args!("PATCH {path}: {}", Chain(&error)));
            }
        }
    }

    /// Sets the readiness that a simulated kubelet reports; it would revert a changed status.
    fn set_readiness_of_kubelet(&self, pod: &Value, is_ready: bool) {
        let uid = pod["metadata"]["uid"].as_str();
        if let (Some(pods), Some(uid)) = (self.shared.backend.pods(), uid) {
            let pod = PodSelector::all().with_uid(uid);
            if is_ready {
                pods.release(pod);
            } else {
                pods.never_ready(pod);
            }
        }
    }

    /// The Pod's conditions with another `Ready` condition.
    fn with_ready(&self, pod: &Value, is_ready: bool) -> Value {
        let now = self.clock().now().strftime("%Y-%m-%dT%H:%M:%SZ");
        let conditions = pod["status"]["conditions"].as_array();
        let others = conditions
            .into_iter()
            .flatten()
            .filter(|condition| condition["type"] != "Ready")
            .cloned();
        let ready = json!({
            "type": "Ready",
            "status": if is_ready { "True" } else { "False" },
            "lastTransitionTime": now.to_string(),
        });
        others.chain([ready]).collect()
    }

    /// Adds a finalizer to a Pod: once deleted, it stays terminating until
    /// [`release_pod`](Self::release_pod).
    ///
    /// # Panics
    ///
    /// When the request fails.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been sent.
    #[track_caller]
    pub fn hold_pod(&self, name: &str) -> impl Future<Output = Pod> {
        let finalizers = json!({ "metadata": { "finalizers": ["kubewright.dev/held"] } });
        self.patch::<Pod>(name, finalizers)
    }

    /// Removes the finalizer that [`hold_pod`](Self::hold_pod) added.
    ///
    /// # Panics
    ///
    /// When the request fails.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been sent.
    #[track_caller]
    pub fn release_pod(&self, name: &str) -> impl Future<Output = Pod> {
        self.patch::<Pod>(name, json!({ "metadata": { "finalizers": null } }))
    }

    /// Delays the start of Pods that are bound to this node: they stay Pending. Running Pods are
    /// not affected. Needs [`HeldPods`](crate::Capability::HeldPods).
    ///
    /// # Panics
    ///
    /// When the cluster does not support this.
    #[track_caller]
    pub fn hold_pods_on(&self, node: &str) {
        self.pod_control().hold(PodSelector::all().on_node(node));
    }

    /// Starts the Pods that [`hold_pods_on`](Self::hold_pods_on) delayed.
    ///
    /// # Panics
    ///
    /// When the cluster does not support this.
    #[track_caller]
    pub fn release_pods_on(&self, node: &str) {
        self.pod_control().release(PodSelector::all().on_node(node));
    }

    #[track_caller]
    fn pod_control(&self) -> PodControl {
        self.shared.backend.pods().unwrap_or_else(|| {
            fail(
                Location::caller(),
                "the kubelets of this cluster cannot hold Pods: let the test need HeldPods",
            )
        })
    }
}

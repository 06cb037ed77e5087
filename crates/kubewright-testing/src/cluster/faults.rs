use std::panic::Location;

use k8s_openapi::api::core::v1::Pod;
use kubewright_cluster::{PodControl, PodSelector};
use serde_json::{Value, json};

use super::failure::{Chain, fail};
use super::handle::Cluster;
use crate::faults::{Ending, Fault, Injected};

impl Cluster {
    /// Makes something go wrong for the operators under test.
    ///
    /// Faults that were injected and never happened fail the test at its end: it would have
    /// tested something else than it says.
    pub fn inject(&self, fault: Fault) -> Injected {
        self.needs_own_operator("disturb");
        self.shared.script.inject(fault)
    }

    /// Waits until a fault has happened.
    ///
    /// # Panics
    ///
    /// When it does not, in the time of [`eventually`](Self::eventually).
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when dropped.
    #[track_caller]
    pub fn met(&self, fault: &Injected) -> impl Future<Output = ()> {
        self.eventually(fault.to_string(), async |_: &Self| fault.met() > 0)
    }

    /// Breaks the connections of the operators' open watches of a resource, such as `pods`.
    ///
    /// # Panics
    ///
    /// When there is none.
    #[track_caller]
    pub fn cut_watches(&self, resource: &str) {
        self.end_watches(resource, Ending::Cut);
    }

    /// Ends the operators' open watches of a resource as an API server does that has forgotten
    /// their revision: with an event that says 410.
    ///
    /// # Panics
    ///
    /// When there is none.
    #[track_caller]
    pub fn expire_watches(&self, resource: &str) {
        self.end_watches(resource, Ending::Expired);
    }

    #[track_caller]
    fn end_watches(&self, resource: &str, ending: Ending) {
        self.needs_own_operator("disturb");
        if self.shared.script.end_watches(resource, ending) == 0 {
            let location = Location::caller();
            fail(
                location,
                format_args!("end the watches of {resource}: the operator has none"),
            );
        }
    }

    /// Restarts the API server under the operators: their connections break, and nobody answers
    /// them until it is back. What is stored stays. A test that uses this needs `Restarts`.
    ///
    /// # Panics
    ///
    /// When the cluster is not the test's own, and when the server does not come back.
    ///
    /// # Cancel safety
    ///
    /// When dropped, a real API server may still be starting.
    #[track_caller]
    pub fn restart_server(&self) -> impl Future<Output = ()> {
        let location = Location::caller();
        async move {
            let restarted = self.shared.backend.restart_server(&self.shared.script);
            if let Err(error) = self.shared.refusals.pardon(restarted).await {
                fail(location, Chain(&error));
            }
        }
    }

    /// The writes that operators under test have asked for so far, but for events: verb,
    /// resource, namespace and name of each.
    pub fn writes(&self) -> Vec<String> {
        self.needs_own_operator("count the writes of");
        self.shared.script.writes()
    }

    /// Ends a Pod as a kubelet does whose node has no room for it, or that evicts it: phase
    /// `Failed`, with this reason (`OutOfpods`, `Evicted`).
    ///
    /// # Panics
    ///
    /// When the server refuses.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been carried out or not.
    #[track_caller]
    pub fn fail_pod(&self, name: &str, reason: &str) -> impl Future<Output = ()> {
        let status = json!({ "phase": "Failed", "reason": reason, "message": "by a test" });
        self.patch_pod_status(name, status, false)
    }

    /// Makes a running Pod ready, or not.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been carried out or not.
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
                self.tell_kubelet(&pod, is_ready);
                status["conditions"] = self.with_ready(&pod, is_ready);
                self.send("PATCH", &path, &json!({ "status": status }))
                    .await
            };
            if let Err(error) = patched.await {
                fail(location, format_args!("PATCH {path}: {}", Chain(&error)));
            }
        }
    }

    /// Where a kubelet looks after the Pod, it would put a changed status right again.
    fn tell_kubelet(&self, pod: &Value, is_ready: bool) {
        let uid = pod["metadata"]["uid"].as_str();
        if let (Some(pods), Some(uid)) = (self.shared.backend.pods(), uid) {
            let pod = PodSelector::all().with_uid(uid);
            match is_ready {
                true => pods.release(pod),
                false => pods.never_ready(pod),
            }
        }
    }

    /// The Pod's conditions, with another one in the place of `Ready`.
    fn with_ready(&self, pod: &Value, is_ready: bool) -> Value {
        let now = self.clock().now().strftime("%Y-%m-%dT%H:%M:%SZ");
        let conditions = pod["status"]["conditions"].as_array();
        let others = conditions.into_iter().flatten();
        let others = others.filter(|one| one["type"] != "Ready").cloned();
        let ready = json!({
            "type": "Ready",
            "status": if is_ready { "True" } else { "False" },
            "lastTransitionTime": now.to_string(),
        });
        others.chain([ready]).collect()
    }

    /// Keeps a Pod from going: once deleted, it stays terminating until
    /// [`release_pod`](Self::release_pod).
    ///
    /// # Panics
    ///
    /// When the server refuses.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been carried out or not.
    #[track_caller]
    pub fn hold_pod(&self, name: &str) -> impl Future<Output = Pod> {
        let finalizers = json!({ "metadata": { "finalizers": ["kubewright.dev/held"] } });
        self.patch::<Pod>(name, finalizers)
    }

    /// Lets a Pod go that was held by [`hold_pod`](Self::hold_pod).
    ///
    /// # Panics
    ///
    /// When the server refuses.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the request may have been carried out or not.
    #[track_caller]
    pub fn release_pod(&self, name: &str) -> impl Future<Output = Pod> {
        self.patch::<Pod>(name, json!({ "metadata": { "finalizers": null } }))
    }

    /// From now on, Pods that are bound to this node do not start: they stay Pending. Those that
    /// run go on. Needs [`HeldPods`](crate::Capability::HeldPods).
    ///
    /// # Panics
    ///
    /// Where the cluster's kubelets cannot be told.
    #[track_caller]
    pub fn hold_pods_on(&self, node: &str) {
        self.pod_control().hold(PodSelector::all().on_node(node));
    }

    /// Starts the Pods that [`hold_pods_on`](Self::hold_pods_on) has held back.
    ///
    /// # Panics
    ///
    /// Where the cluster's kubelets cannot be told.
    #[track_caller]
    pub fn release_pods_on(&self, node: &str) {
        self.pod_control().release(PodSelector::all().on_node(node));
    }

    #[track_caller]
    fn pod_control(&self) -> PodControl {
        self.shared.backend.pods().unwrap_or_else(|| {
            fail(
                Location::caller(),
                "this cluster's kubelets cannot be told to hold Pods: let the test need HeldPods",
            )
        })
    }
}

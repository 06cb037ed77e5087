//! Handles that change the behavior of Pods and stop kubelets.

use super::pod_selector::PodSelector;
use super::settings::{PodBehavior, SharedKubeletSettings};

/// Changes the behavior of the Pods of a cluster. The latest setting that selects a Pod applies.
#[derive(Clone, Debug)]
pub struct PodControl {
    shared: SharedKubeletSettings,
}

impl PodControl {
    pub(crate) fn new(shared: SharedKubeletSettings) -> Self {
        Self { shared }
    }

    /// Sets the behavior of Pods, existing and future ones.
    pub fn set(&self, pods: PodSelector, behavior: PodBehavior) {
        self.shared.settings.send_modify(|settings| {
            settings.behaviors.retain(|(selector, _)| *selector != pods);
            settings.behaviors.push((pods, behavior));
        });
    }

    /// Keeps Pods from starting: they stay Pending.
    pub fn hold(&self, pods: PodSelector) {
        self.set(pods, PodBehavior::Hold);
    }

    /// Makes Pods run without being ready.
    pub fn never_ready(&self, pods: PodSelector) {
        self.set(pods, PodBehavior::NeverReady);
    }

    /// Makes Pods fail with a reason, such as `Evicted`.
    pub fn fail(&self, pods: PodSelector, reason: impl Into<String>) {
        self.set(pods, PodBehavior::Fail(reason.into()));
    }

    /// Makes the containers of Pods fail repeatedly.
    pub fn crash_loop(&self, pods: PodSelector) {
        self.set(pods, PodBehavior::CrashLoop);
    }

    /// Makes the containers of Pods exit with code 0.
    pub fn complete(&self, pods: PodSelector) {
        self.set(pods, PodBehavior::Complete);
    }

    /// Keeps Pods running after they are deleted.
    pub fn ignore_termination(&self, pods: PodSelector) {
        self.set(pods, PodBehavior::IgnoreTermination);
    }

    /// Sets Pods back to the normal behavior.
    pub fn release(&self, pods: PodSelector) {
        self.set(pods, PodBehavior::Normal);
    }

    /// Removes all settings of Pods.
    pub fn release_all(&self) {
        self.shared
            .settings
            .send_modify(|settings| settings.behaviors.clear());
    }
}

/// Stops and starts the kubelets of a cluster.
#[derive(Clone, Debug)]
pub struct NodeControl {
    shared: SharedKubeletSettings,
}

impl NodeControl {
    pub(crate) fn new(shared: SharedKubeletSettings) -> Self {
        Self { shared }
    }

    /// Stops the kubelet of a node, as a power failure does: the cluster notices when its
    /// heartbeats are missing.
    pub fn stop(&self, node: impl Into<String>) {
        let node = node.into();
        self.shared.settings.send_modify(|settings| {
            settings.stopped.insert(node);
        });
    }

    /// Starts the kubelet of a node again.
    pub fn start(&self, node: &str) {
        self.shared.settings.send_modify(|settings| {
            settings.stopped.remove(node);
        });
    }
}

#[cfg(test)]
mod tests {
    use kubewright_apiserver::store::Object;
    use kubewright_core::Revision;
    use serde_json::json;

    use super::super::pod_selector::PodSelector;
    use super::super::settings::{PodBehavior, SharedKubeletSettings};
    use super::PodControl;

    fn pod(name: &str) -> Object {
        let labels = json!({"app": "web"});
        let value = json!({
            "metadata": {"name": name, "namespace": "shop", "labels": labels},
            "spec": {"nodeName": "n1"},
        });
        Object::new(value, Revision::new(1))
    }

    #[test]
    fn latest_setting_decides_the_behavior_of_a_pod() {
        let settings = SharedKubeletSettings::default();
        let control = PodControl::new(settings.clone());
        let behavior = |name: &str| settings.subscribe().borrow().behavior(&pod(name));
        let web = PodSelector::all().with_labels("app=web".parse().unwrap());
        control.hold(web.clone());
        control.crash_loop(PodSelector::all().in_namespace("shop").named("b"));
        control.fail(PodSelector::all().on_node("n2"), "Evicted");
        assert_eq!(behavior("a"), PodBehavior::Hold);
        assert_eq!(behavior("b"), PodBehavior::CrashLoop);
        let fork = settings.fork();
        control.release(web);
        assert_eq!(behavior("b"), PodBehavior::Normal);
        assert_eq!(
            fork.subscribe().borrow().behavior(&pod("b")),
            PodBehavior::CrashLoop
        );
        control.release_all();
        assert_eq!(behavior("a"), PodBehavior::Normal);
    }
}

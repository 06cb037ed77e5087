use std::collections::BTreeSet;
use std::sync::Arc;

use kubewright_core::LabelSelector;
use tokio::sync::watch;

use super::view::text;
use kubewright_apiserver::store::Object;

/// Which Pods an order is about: those for which all that is named here is true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodSelector {
    namespace: Option<String>,
    name: Option<String>,
    uid: Option<String>,
    node: Option<String>,
    labels: LabelSelector,
}

impl PodSelector {
    /// Every Pod.
    pub fn all() -> Self {
        Self::default()
    }

    /// Those of a namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Those with a name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The one with a uid, and no later one of its name.
    #[must_use]
    pub fn with_uid(mut self, uid: impl Into<String>) -> Self {
        self.uid = Some(uid.into());
        self
    }

    /// Those of a node.
    #[must_use]
    pub fn on_node(mut self, node: impl Into<String>) -> Self {
        self.node = Some(node.into());
        self
    }

    /// Those with labels.
    #[must_use]
    pub fn labelled(mut self, labels: LabelSelector) -> Self {
        self.labels = labels;
        self
    }

    fn matches(&self, pod: &Object) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == found)
        };
        is(&self.namespace, pod.namespace().unwrap_or_default())
            && is(&self.name, pod.name())
            && is(&self.uid, pod.uid())
            && is(&self.node, text(pod.value(), "/spec/nodeName"))
            && self.labels.matches(|key| pod.label(key))
    }
}

/// What becomes of a Pod whose node has taken it on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PodFate {
    /// It runs, is ready, and ends when it is told to.
    #[default]
    Normal,
    /// Its containers are never created: it stays Pending. One that runs goes on.
    Hold,
    /// It runs and is not ready.
    NeverReady,
    /// It fails for the given reason, such as `Evicted`.
    Fail(String),
    /// Its containers fail again and again, each time after a longer wait.
    CrashLoop,
    /// Its containers end well: a Pod that is not restarted always has then succeeded.
    Complete,
    /// It runs, and goes on running after it was told to end.
    Linger,
}

/// What those who own the cluster want of it beside what its objects say.
#[derive(Clone, Debug, Default)]
pub(super) struct Orders {
    /// The latest comes last.
    pods: Vec<(PodSelector, PodFate)>,
    /// Nodes whose kubelet does nothing.
    stopped: BTreeSet<String>,
}

impl Orders {
    /// What becomes of the Pod: what the last order about it says.
    pub(super) fn fate(&self, pod: &Object) -> PodFate {
        let mut orders = self.pods.iter().rev();
        let found = orders.find(|(selector, _)| selector.matches(pod));
        found.map(|(_, fate)| fate.clone()).unwrap_or_default()
    }

    /// Whether the node's kubelet does nothing.
    pub(super) fn is_stopped(&self, node: &str) -> bool {
        self.stopped.contains(node)
    }
}

/// Where the orders are kept. Clones are the same place.
#[derive(Clone, Debug)]
pub(crate) struct OrderBook {
    orders: Arc<watch::Sender<Orders>>,
}

impl Default for OrderBook {
    fn default() -> Self {
        Self {
            orders: Arc::new(watch::Sender::new(Orders::default())),
        }
    }
}

impl OrderBook {
    /// Another place with the same orders.
    pub(crate) fn fork(&self) -> Self {
        let orders = self.orders.borrow().clone();
        Self {
            orders: Arc::new(watch::Sender::new(orders)),
        }
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Orders> {
        self.orders.subscribe()
    }
}

/// Tells the kubelets of a cluster what becomes of Pods. The last order about a Pod counts.
#[derive(Clone, Debug)]
pub struct PodControl {
    book: OrderBook,
}

impl PodControl {
    pub(crate) fn new(book: OrderBook) -> Self {
        Self { book }
    }

    /// From now on, this is what becomes of these Pods.
    pub fn set(&self, pods: PodSelector, fate: PodFate) {
        self.book.orders.send_modify(|orders| {
            orders.pods.retain(|(selector, _)| *selector != pods);
            orders.pods.push((pods, fate));
        });
    }

    /// Keeps Pods from starting: they stay Pending.
    pub fn hold(&self, pods: PodSelector) {
        self.set(pods, PodFate::Hold);
    }

    /// Lets Pods run without ever being ready.
    pub fn never_ready(&self, pods: PodSelector) {
        self.set(pods, PodFate::NeverReady);
    }

    /// Lets Pods fail for a reason, such as `Evicted`.
    pub fn fail(&self, pods: PodSelector, reason: impl Into<String>) {
        self.set(pods, PodFate::Fail(reason.into()));
    }

    /// Lets the containers of Pods fail again and again.
    pub fn crash_loop(&self, pods: PodSelector) {
        self.set(pods, PodFate::CrashLoop);
    }

    /// Lets the containers of Pods end well.
    pub fn complete(&self, pods: PodSelector) {
        self.set(pods, PodFate::Complete);
    }

    /// Lets Pods go on running after they were told to end.
    pub fn linger(&self, pods: PodSelector) {
        self.set(pods, PodFate::Linger);
    }

    /// Lets these Pods do again what Pods usually do.
    pub fn release(&self, pods: PodSelector) {
        self.set(pods, PodFate::Normal);
    }

    /// Forgets every order about Pods.
    pub fn release_all(&self) {
        self.book.orders.send_modify(|orders| orders.pods.clear());
    }
}

/// Stops and starts the kubelets of a cluster.
#[derive(Clone, Debug)]
pub struct NodeControl {
    book: OrderBook,
}

impl NodeControl {
    pub(crate) fn new(book: OrderBook) -> Self {
        Self { book }
    }

    /// The node's kubelet says and does nothing more, as when the machine has lost its power: the
    /// cluster finds out when no heartbeat comes.
    pub fn stop(&self, node: impl Into<String>) {
        let node = node.into();
        self.book.orders.send_modify(|orders| {
            orders.stopped.insert(node);
        });
    }

    /// The node's kubelet goes on.
    pub fn start(&self, node: &str) {
        self.book.orders.send_modify(|orders| {
            orders.stopped.remove(node);
        });
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::Revision;
    use serde_json::json;

    use super::{OrderBook, PodControl, PodFate, PodSelector};
    use kubewright_apiserver::store::Object;

    fn pod(name: &str) -> Object {
        let labels = json!({"app": "web"});
        let value = json!({
            "metadata": {"name": name, "namespace": "shop", "labels": labels},
            "spec": {"nodeName": "n1"},
        });
        Object::new(value, Revision::new(1))
    }

    #[test]
    fn the_last_order_about_a_pod_counts() {
        let book = OrderBook::default();
        let control = PodControl::new(book.clone());
        let fate = |name: &str| book.subscribe().borrow().fate(&pod(name));
        let web = PodSelector::all().labelled("app=web".parse().unwrap());
        control.hold(web.clone());
        control.crash_loop(PodSelector::all().in_namespace("shop").named("b"));
        control.fail(PodSelector::all().on_node("n2"), "Evicted");
        assert_eq!(fate("a"), PodFate::Hold);
        assert_eq!(fate("b"), PodFate::CrashLoop);
        let fork = book.fork();
        control.release(web);
        assert_eq!(fate("b"), PodFate::Normal);
        assert_eq!(
            fork.subscribe().borrow().fate(&pod("b")),
            PodFate::CrashLoop
        );
        control.release_all();
        assert_eq!(fate("a"), PodFate::Normal);
    }
}

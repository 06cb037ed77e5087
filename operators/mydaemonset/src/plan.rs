//! What is to be done for one set: a plain function of what there is.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;
use kubewright::prelude::*;

use crate::{MyDaemonSet, MyDaemonSetStatus, pod};

/// How many nodes may be without an available Pod because of a change of the spec.
const MAX_UNAVAILABLE: usize = 1;

/// How old a Pod that has ended is when another takes its place: a node that rejects its Pods
/// would get a new one at every turn.
const PAUSE: Duration = Duration::from_secs(30);

/// What is missing, what is too much, and how things stand.
#[derive(Debug)]
pub struct Plan {
    missing: Vec<Pod>,
    surplus: Vec<Arc<Pod>>,
    /// When the first Pod that has ended becomes surplus.
    next: Option<Duration>,
    /// How things stand; none while the set is being deleted.
    status: Option<MyDaemonSetStatus>,
}

impl Plan {
    /// Compares the nodes that should run a Pod of `set` with the Pods that it owns.
    pub fn new(set: &MyDaemonSet, nodes: &List<Node>, pods: &List<Pod>, now: Timestamp) -> Self {
        let mut plan = Self {
            missing: Vec::new(),
            surplus: Vec::new(),
            next: None,
            status: None,
        };
        if set.metadata.deletion_timestamp.is_some() {
            return plan;
        }
        let mut pods: BTreeMap<String, Arc<Pod>> =
            pods.iter().map(|pod| (pod.name_any(), pod)).collect();
        let mut status = MyDaemonSetStatus::default();
        let mut outdated = Vec::new();
        for node in nodes
            .iter()
            .filter(|node| !pod::is_repelled(node, &["NoExecute"]))
        {
            let may_start = !pod::is_repelled(&node, &["NoSchedule"]);
            let present = pods.remove(&pod::name_for(set, &node.name_any()));
            status.desired_replicas += i32::from(may_start || present.is_some());
            match present {
                None if may_start => plan.missing.push(pod::for_node(set, &node.name_any())),
                None => {}
                // Its name is free again once it is gone, which is an event of its own.
                Some(present) if pod::is_terminating(&present) => {}
                Some(present) if pod::is_finished(&present) => plan.retire(present, set, now),
                Some(present) => {
                    let (current, ready) =
                        (pod::is_current(&present, set), pod::is_ready(&present));
                    status.current_replicas += 1;
                    status.updated_replicas += i32::from(current);
                    status.ready_replicas += i32::from(ready);
                    status.available_replicas += i32::from(ready);
                    if !current {
                        outdated.push((ready, present));
                    }
                }
            }
        }
        let unavailable = status.desired_replicas - status.available_replicas;
        plan.replace(outdated, usize::try_from(unavailable).unwrap_or_default());
        // What is left belongs to no node, or to one that must not run it.
        let homeless = pods.into_values();
        plan.surplus
            .extend(homeless.filter(|pod| !pod::is_terminating(pod)));
        status.observed_generation = set.metadata.generation.unwrap_or_default();
        plan.status = Some(status);
        plan
    }

    /// The Pods to make.
    pub fn missing(&self) -> impl Iterator<Item = Pod> {
        self.missing.iter().cloned()
    }

    /// The Pods to delete.
    pub fn surplus(&self) -> impl Iterator<Item = Arc<Pod>> {
        self.surplus.iter().cloned()
    }

    /// When to look again without a change.
    pub fn outcome(&self) -> Outcome {
        self.next.map_or(Outcome::done(), Outcome::requeue_after)
    }

    /// Writes down how things stand.
    pub fn report(&self, status: &mut MyDaemonSetStatus) {
        let Some(now) = &self.status else { return };
        let waiting = now.desired_replicas - now.available_replicas;
        let (reason, message) = match waiting {
            0 => ("AllNodesServe", "each node has an available Pod".to_owned()),
            _ => (
                "NodesWait",
                format!("{waiting} nodes have no available Pod"),
            ),
        };
        let mut conditions = std::mem::take(&mut status.conditions);
        let available = condition("Available", waiting == 0, reason, message);
        set_condition(&mut conditions, available);
        *status = MyDaemonSetStatus {
            conditions,
            ..now.clone()
        };
    }

    /// A Pod that has ended goes at once when it is outdated, else when it is old enough.
    fn retire(&mut self, pod: Arc<Pod>, set: &MyDaemonSet, now: Timestamp) {
        let rest = PAUSE.saturating_sub(pod::age(&pod, now));
        if rest.is_zero() || !pod::is_current(&pod, set) {
            self.surplus.push(pod);
        } else {
            self.next = Some(self.next.map_or(rest, |next| next.min(rest)));
        }
    }

    /// Outdated Pods that serve nobody go at once, the others one after the other.
    fn replace(&mut self, outdated: Vec<(bool, Arc<Pod>)>, unavailable: usize) {
        let mut budget = MAX_UNAVAILABLE.saturating_sub(unavailable);
        for (ready, pod) in outdated {
            if ready && budget == 0 {
                continue;
            }
            budget = budget.saturating_sub(usize::from(ready));
            self.surplus.push(pod);
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{NodeSpec, PodCondition, PodStatus, Taint};
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use kubewright::prelude::*;

    use super::Plan;
    use crate::{MyDaemonSet, MyDaemonSetSpec, MyDaemonSetStatus, pod};

    const NOW: &str = "2026-01-01T00:01:00Z";

    fn set(image: &str) -> MyDaemonSet {
        let spec = MyDaemonSetSpec {
            image: image.to_owned(),
        };
        let mut set = MyDaemonSet::new("web", spec);
        set.metadata.namespace = Some("shop".to_owned());
        set.metadata.generation = Some(7);
        set.metadata.uid = Some("1".to_owned());
        set
    }

    fn node(name: &str) -> Node {
        Node {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                ..ObjectMeta::default()
            },
            ..Node::default()
        }
    }

    fn tainted(name: &str, key: &str, effect: &str) -> Node {
        let taint = Taint {
            key: key.to_owned(),
            effect: effect.to_owned(),
            ..Taint::default()
        };
        Node {
            spec: Some(NodeSpec {
                taints: Some(vec![taint]),
                ..NodeSpec::default()
            }),
            ..node(name)
        }
    }

    fn running(set: &MyDaemonSet, node: &str) -> Pod {
        let ready = PodCondition {
            type_: "Ready".to_owned(),
            status: "True".to_owned(),
            ..PodCondition::default()
        };
        Pod {
            status: Some(PodStatus {
                phase: Some("Running".to_owned()),
                conditions: Some(vec![ready]),
                ..PodStatus::default()
            }),
            ..pod::for_node(set, node)
        }
    }

    /// A Pod that a kubelet has rejected.
    fn rejected(set: &MyDaemonSet, node: &str, created: &str) -> Pod {
        let mut pod = pod::for_node(set, node);
        pod.metadata.creation_timestamp = Some(Time(created.parse().unwrap()));
        pod.status = Some(PodStatus {
            phase: Some("Failed".to_owned()),
            ..PodStatus::default()
        });
        pod
    }

    fn plan(set: &MyDaemonSet, nodes: &[Node], pods: &[Pod]) -> Plan {
        let nodes = nodes.iter().cloned().collect();
        let pods = pods.iter().cloned().collect();
        Plan::new(set, &nodes, &pods, NOW.parse().unwrap())
    }

    fn status(plan: &Plan) -> MyDaemonSetStatus {
        let mut status = MyDaemonSetStatus::default();
        plan.report(&mut status);
        status
    }

    #[test]
    fn each_node_without_a_pod_gets_one_pinned_to_it() {
        let set = set("v1");
        let plan = plan(&set, &[node("a"), node("b")], &[running(&set, "a")]);
        let missing: Vec<Pod> = plan.missing().collect();
        assert_eq!(missing.len(), 1);
        let json = serde_json::to_value(&missing[0]).unwrap();
        let term = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution\
                    /nodeSelectorTerms/0/matchFields/0";
        assert_eq!(
            json.pointer(term),
            Some(&serde_json::json!({"key": "metadata.name", "operator": "In", "values": ["b"]}))
        );
        assert_eq!(json["metadata"]["namespace"], "shop");
        assert_eq!(plan.surplus().count(), 0);
    }

    #[test]
    fn a_pod_whose_node_is_gone_goes_too() {
        let set = set("v1");
        let pods = [running(&set, "a"), running(&set, "gone")];
        let plan = plan(&set, &[node("a")], &pods);
        let surplus: Vec<_> = plan.surplus().map(|pod| pod.name_any()).collect();
        assert_eq!(surplus, [pod::name_for(&set, "gone")]);
    }

    #[test]
    fn a_new_image_replaces_pods_one_after_the_other() {
        let old = set("v1");
        let new = set("v2");
        let nodes = [node("a"), node("b")];
        let pods = [running(&old, "a"), running(&old, "b")];
        assert_eq!(plan(&new, &nodes, &pods).surplus().count(), 1);
        let half = [running(&new, "a"), running(&old, "b")];
        assert_eq!(plan(&new, &nodes, &half).surplus().count(), 1);
        let waiting = [pod::for_node(&new, "a"), running(&old, "b")];
        assert_eq!(plan(&new, &nodes, &waiting).surplus().count(), 0);
        let broken = [pod::for_node(&old, "a"), running(&old, "b")];
        let plan = plan(&new, &nodes, &broken);
        assert_eq!(
            plan.surplus().map(|pod| pod.name_any()).collect::<Vec<_>>(),
            [pod::name_for(&old, "a")]
        );
    }

    #[test]
    fn a_taint_keeps_pods_from_starting_or_from_staying() {
        let set = set("v1");
        let pods = [running(&set, "a")];
        let keep_out = [
            tainted("a", "gpu", "NoSchedule"),
            tainted("b", "gpu", "NoSchedule"),
        ];
        let stays = plan(&set, &keep_out, &pods);
        assert_eq!((stays.missing().count(), stays.surplus().count()), (0, 0));
        let throw_out = [tainted("a", "gpu", "NoExecute")];
        assert_eq!(plan(&set, &throw_out, &pods).surplus().count(), 1);
        let cordoned = [tainted(
            "a",
            "node.kubernetes.io/unschedulable",
            "NoSchedule",
        )];
        assert_eq!(plan(&set, &cordoned, &[]).missing().count(), 1);
    }

    #[test]
    fn the_status_counts_nodes_and_names_the_generation() {
        let set = set("v1");
        let pods = [running(&set, "a"), pod::for_node(&set, "b")];
        let status = status(&plan(&set, &[node("a"), node("b"), node("c")], &pods));
        assert_eq!(
            (
                status.desired_replicas,
                status.current_replicas,
                status.updated_replicas
            ),
            (3, 2, 2)
        );
        assert_eq!((status.ready_replicas, status.available_replicas), (1, 1));
        assert_eq!(status.observed_generation, 7);
        let available = &status.conditions[0];
        assert_eq!(
            (available.type_.as_str(), available.status.as_str()),
            ("Available", "False")
        );
    }

    #[test]
    fn a_set_that_is_being_deleted_is_left_alone() {
        let mut set = set("v1");
        let pods = [running(&set, "a")];
        set.metadata.deletion_timestamp = Some(Time("2026-01-01T00:00:00Z".parse().unwrap()));
        let plan = plan(&set, &[node("b")], &pods);
        assert_eq!((plan.missing().count(), plan.surplus().count()), (0, 0));
        assert_eq!(status(&plan), MyDaemonSetStatus::default());
    }

    #[test]
    fn a_pod_that_ends_soon_after_its_start_is_replaced_later() {
        let (old, new) = (set("v1"), set("v2"));
        let after = |set, created| {
            let plan = plan(set, &[node("a")], &[rejected(&old, "a", created)]);
            (plan.surplus().count(), plan.outcome().next_run())
        };
        let rest = Some(Duration::from_secs(20));
        assert_eq!(after(&old, "2026-01-01T00:00:50Z"), (0, rest));
        assert_eq!(after(&old, "2026-01-01T00:00:30Z"), (1, None));
        assert_eq!(after(&new, "2026-01-01T00:00:50Z"), (1, None));
    }

    #[test]
    fn the_first_pod_to_become_due_decides_the_next_run() {
        let set = set("v1");
        let pods = [
            rejected(&set, "a", "2026-01-01T00:00:55Z"),
            rejected(&set, "b", "2026-01-01T00:00:40Z"),
        ];
        let plan = plan(&set, &[node("a"), node("b")], &pods);
        let first = Outcome::requeue_after(Duration::from_secs(10));
        assert_eq!(plan.outcome(), first);
    }

    #[test]
    fn the_report_keeps_conditions_of_others_in_their_place() {
        let plan = plan(&set("v1"), &[], &[]);
        let mut status = MyDaemonSetStatus {
            conditions: vec![
                condition("Available", false, "Old", ""),
                condition("Foreign", true, "Seen", ""),
            ],
            ..MyDaemonSetStatus::default()
        };
        plan.report(&mut status);
        let seen = status
            .conditions
            .iter()
            .map(|one| (&*one.type_, &*one.status));
        assert_eq!(
            seen.collect::<Vec<_>>(),
            [("Available", "True"), ("Foreign", "True")]
        );
    }
}

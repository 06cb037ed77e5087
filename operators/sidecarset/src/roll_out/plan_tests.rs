//! The plans of roll-outs.

use std::sync::Arc;

use kubewright::prelude::*;
use serde_json::{Value, json};

use super::{Plan, plan};
use crate::roll_out::fixtures::{injected_pod_of, pod_of, run_by_kubelet, set_of};
use crate::roll_out::{injected_pod, updated};

fn unready() -> Value {
    json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}})
}

/// Returns the plan of a set that was changed from `i:1` to `i:2`. Pods named `new..` are updated,
/// Pods with a `!` are not ready.
fn plan_of(strategy: Value, pods: &[&str]) -> Plan {
    let old = set_of("i:1", json!({}));
    let new = set_of("i:2", json!({"updateStrategy": strategy}));
    let injected: Vec<_> = pods
        .iter()
        .map(|name| {
            let set = if name.starts_with("new") { &new } else { &old };
            let change = if name.ends_with('!') {
                unready()
            } else {
                json!({})
            };
            let pod = injected_pod_of(set, name.trim_end_matches('!'), &change).pod;
            injected_pod(&new, &pod).unwrap()
        })
        .collect();
    plan(&new, &injected)
}

fn names(pods: &[Arc<Pod>]) -> String {
    let names: Vec<_> = pods.iter().map(|pod| pod.name_any()).collect();
    names.join(" ")
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn strategy_decides_which_pods_are_updated_and_progress_counts_them() {
    for (strategy, pods, expected, reason, message) in [
        (
            json!({}),
            vec!["a", "b", "c"],
            "a",
            "Updating",
            "0 of 3 Pods updated, 0 of them ready; 1 updated now; 2 waiting: 0 updated and not ready, maxUnavailable is 1",
        ),
        (
            json!({"maxUnavailable": 2}),
            vec!["a", "b", "c"],
            "a b",
            "Updating",
            "0 of 3 Pods updated, 0 of them ready; 2 updated now; 1 waiting: 0 updated and not ready, maxUnavailable is 2",
        ),
        (
            json!({"maxUnavailable": "50%"}),
            vec!["a", "b", "c"],
            "a b",
            "Updating",
            "0 of 3 Pods updated, 0 of them ready; 2 updated now; 1 waiting: 0 updated and not ready, maxUnavailable is 2",
        ),
        (
            json!({}),
            vec!["a", "b!", "c!"],
            "b c a",
            "Updating",
            "0 of 3 Pods updated, 0 of them ready; 3 updated now",
        ),
        (
            json!({}),
            vec!["new1!", "a", "b"],
            "",
            "WaitingForPods",
            "1 of 3 Pods updated, 0 of them ready; 2 waiting: 1 updated and not ready, maxUnavailable is 1",
        ),
        (
            json!({"partition": 2}),
            vec!["a", "b", "c"],
            "a",
            "Updating",
            "0 of 3 Pods updated, 0 of them ready; 1 updated now; 2 kept back by partition",
        ),
        (
            json!({"partition": 2}),
            vec!["new1", "b", "c"],
            "",
            "Partition",
            "1 of 3 Pods updated, 1 of them ready; 2 kept back by partition",
        ),
        (
            json!({"partition": "99%"}),
            vec!["a", "b"],
            "a",
            "Updating",
            "0 of 2 Pods updated, 0 of them ready; 1 updated now; 1 kept back by partition",
        ),
        (
            json!({"partition": "100%"}),
            vec!["a", "b"],
            "",
            "Partition",
            "0 of 2 Pods updated, 0 of them ready; 2 kept back by partition",
        ),
        (
            json!({"paused": true}),
            vec!["a"],
            "",
            "Paused",
            "0 of 1 Pods updated, 0 of them ready",
        ),
        (
            json!({"type": "NotUpdate"}),
            vec!["a"],
            "",
            "NotUpdate",
            "0 of 1 Pods updated, 0 of them ready",
        ),
        (
            json!({"selector": {"matchLabels": {"no": "one"}}}),
            vec!["a"],
            "",
            "Selector",
            "0 of 1 Pods updated, 0 of them ready; 1 not selected by updateStrategy.selector",
        ),
        (
            json!({}),
            vec!["new1", "new2"],
            "",
            "Complete",
            "2 of 2 Pods updated, 2 of them ready",
        ),
        (
            json!({}),
            vec![],
            "",
            "Complete",
            "0 of 0 Pods updated, 0 of them ready",
        ),
    ] {
        let plan = plan_of(strategy.clone(), &pods);
        assert_eq!(names(&plan.update), expected, "{strategy} {pods:?}");
        assert_eq!(plan.progress.reason, reason, "{strategy} {pods:?}");
        assert_eq!(plan.progress.message, message, "{strategy} {pods:?}");
    }
}

#[test]
fn pods_are_not_upgradable_if_more_than_images_changed() {
    let old = set_of("i:1", json!({}));
    let new = set_of(
        "i:2",
        json!({"containers": [{"name": "a", "image": "i:2", "args": ["x"]}]}),
    );
    let pod = Arc::new(pod_of(&old, "p"));
    let plan = plan(&new, &[injected_pod(&new, &pod).unwrap()]);
    assert!(plan.update.is_empty());
    assert_eq!(names(&plan.not_upgradable), "p");
    assert_eq!(plan.progress.reason, "NotUpgradable");
}

#[test]
fn pod_is_not_updated_before_the_kubelet_has_finished_the_last_update() {
    let (first, second) = (set_of("i:1", json!({})), set_of("i:2", json!({})));
    let third = set_of("i:3", json!({"updateStrategy": {"maxUnavailable": 5}}));
    let update = updated(&second, &pod_of(&first, "p"), "s-1", "now").unwrap();
    let plan_for = |pod: Pod| {
        let pod = injected_pod(&third, &Arc::new(pod)).unwrap();
        plan(&third, &[pod])
    };
    assert_eq!(names(&plan_for(update.pod.clone()).update), "");
    let finished = plan_for(run_by_kubelet(update.pod));
    assert_eq!(names(&finished.update), "p");
}

use std::sync::Arc;

use kubewright::prelude::*;
use serde_json::{Value, json};

use super::{Plan, plan};
use crate::SidecarSet;
use crate::inject::{Surroundings, inject};
use crate::place::Place;
use crate::roll_out::{Member, member, updated};

/// A set with one sidecar of this image, unless `more` says otherwise.
pub(crate) fn set_of(image: &str, more: Value) -> SidecarSet {
    let mut spec = json!({
        "selector": {"matchLabels": {"app": "web"}},
        "containers": [{"name": "a", "image": image}],
    });
    for (key, value) in more.as_object().unwrap() {
        spec[key] = value.clone();
    }
    let set = json!({
        "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
        "metadata": {"name": "s"}, "spec": spec,
    });
    serde_json::from_value(set).unwrap()
}

/// A running Pod with the containers of the set.
pub(crate) fn pod_of(set: &SidecarSet, name: &str) -> Pod {
    let pod = json!({
        "metadata": {"name": name, "namespace": "default", "uid": format!("uid-{name}"),
            "resourceVersion": "5", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": "app:1"}], "nodeName": "n"},
    });
    let around = Surroundings {
        place: Place {
            name: "default",
            labels: None,
        },
        sets: vec![Arc::new(set.clone())],
        revisions: Vec::new(),
    };
    settled(inject(serde_json::from_value(pod).unwrap(), &around).unwrap())
}

/// The Pod once its kubelet has done what it asks for.
pub(crate) fn settled(pod: Pod) -> Pod {
    let mut value = json!(pod);
    let status = |one: &Value| {
        let image = one["image"].as_str().unwrap_or_default();
        json!({"name": one["name"], "image": image, "imageID": format!("id of {image}"),
            "ready": true, "restartCount": 0})
    };
    let statuses = |list: &Value| -> Vec<Value> {
        list.as_array().into_iter().flatten().map(status).collect()
    };
    value["status"] = json!({
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": statuses(&value["spec"]["containers"]),
        "initContainerStatuses": statuses(&value["spec"]["initContainers"]),
    });
    serde_json::from_value(value).unwrap()
}

/// The Pod as a member of the set, with something changed.
pub(crate) fn member_of(set: &SidecarSet, name: &str, change: &Value) -> Member {
    fn merge(target: &mut Value, change: &Value) {
        match change {
            Value::Object(members) => {
                for (key, value) in members {
                    merge(&mut target[key.as_str()], value);
                }
            }
            other => *target = other.clone(),
        }
    }
    let mut pod = json!(pod_of(set, name));
    merge(&mut pod, change);
    let pod: Pod = serde_json::from_value(pod).unwrap();
    member(set, &Arc::new(pod)).unwrap()
}

fn unready() -> Value {
    json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}})
}

/// What becomes of Pods of the version `i:1`, those named with `!` unready, under this strategy.
fn planned(strategy: Value, pods: &[&str]) -> Plan {
    let old = set_of("i:1", json!({}));
    let new = set_of("i:2", json!({"updateStrategy": strategy}));
    let members: Vec<_> = pods
        .iter()
        .map(|name| {
            let set = if name.starts_with("new") { &new } else { &old };
            let change = if name.ends_with('!') {
                unready()
            } else {
                json!({})
            };
            let pod = member_of(set, name.trim_end_matches('!'), &change).pod;
            member(&new, &pod).unwrap()
        })
        .collect();
    plan(&new, &members)
}

fn names(pods: &[Arc<Pod>]) -> String {
    let names: Vec<_> = pods.iter().map(|pod| pod.name_any()).collect();
    names.join(" ")
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn a_roll_out_goes_as_its_strategy_says_and_tells_its_numbers() {
    for (strategy, pods, wanted, reason, message) in [
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
            "0 of 3 Pods updated, 0 of them ready; 1 updated now; 2 kept as they are by partition",
        ),
        (
            json!({"partition": 2}),
            vec!["new1", "b", "c"],
            "",
            "Partition",
            "1 of 3 Pods updated, 1 of them ready; 2 kept as they are by partition",
        ),
        (
            json!({"partition": "99%"}),
            vec!["a", "b"],
            "a",
            "Updating",
            "0 of 2 Pods updated, 0 of them ready; 1 updated now; 1 kept as they are by partition",
        ),
        (
            json!({"partition": "100%"}),
            vec!["a", "b"],
            "",
            "Partition",
            "0 of 2 Pods updated, 0 of them ready; 2 kept as they are by partition",
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
            "0 of 1 Pods updated, 0 of them ready; 1 left out by updateStrategy.selector",
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
        let plan = planned(strategy.clone(), &pods);
        assert_eq!(names(&plan.update), wanted, "{strategy} {pods:?}");
        assert_eq!(plan.progress.reason, reason, "{strategy} {pods:?}");
        assert_eq!(plan.progress.message, message, "{strategy} {pods:?}");
    }
}

#[test]
fn more_than_images_changed_and_nothing_is_updated() {
    let old = set_of("i:1", json!({}));
    let new = set_of(
        "i:2",
        json!({"containers": [{"name": "a", "image": "i:2", "args": ["x"]}]}),
    );
    let pod = Arc::new(pod_of(&old, "p"));
    let plan = plan(&new, &[member(&new, &pod).unwrap()]);
    assert!(plan.update.is_empty());
    assert_eq!(names(&plan.not_upgradable), "p");
    assert_eq!(plan.progress.reason, "NotUpgradable");
}

#[test]
fn a_pod_whose_former_update_is_under_way_is_waited_for() {
    let (one, two) = (set_of("i:1", json!({})), set_of("i:2", json!({})));
    let three = set_of("i:3", json!({"updateStrategy": {"maxUnavailable": 5}}));
    let once = updated(&two, &pod_of(&one, "p"), "s-1", "now").unwrap().pod;
    let waits = plan(&three, &[member(&three, &Arc::new(once.clone())).unwrap()]);
    assert_eq!(names(&waits.update), "");
    let arrived = plan(&three, &[member(&three, &Arc::new(settled(once))).unwrap()]);
    assert_eq!(names(&arrived.update), "p");
}

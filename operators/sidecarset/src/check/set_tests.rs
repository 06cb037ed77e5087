//! The rules for sets.

use std::sync::Arc;

use kubewright::webhook::{Change, Findings};
use serde_json::{Value, json};

use super::{ValidationContext, check};
use crate::SidecarSet;

/// Builds a valid set, with the fields at these paths replaced.
fn set(name: &str, fields: Value) -> SidecarSet {
    let mut set = json!({
        "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "containers": [{"name": "a", "image": "log:1"}],
        },
    });
    for (path, value) in fields.as_object().unwrap() {
        let mut field = &mut set;
        for part in path.split('/') {
            field = match part.parse::<usize>() {
                Ok(index) => &mut field[index],
                Err(_) => &mut field[part],
            };
        }
        *field = value.clone();
    }
    serde_json::from_value(set).unwrap()
}

fn errors_of(change: Change<SidecarSet>, other_sets: Vec<SidecarSet>) -> Vec<String> {
    let context = ValidationContext {
        sets: other_sets.into_iter().map(Arc::new).collect(),
        ..ValidationContext::default()
    };
    let mut findings = Findings::default();
    check(&change, &context, &mut findings);
    findings.errors()
}

/// Returns the errors of a new set.
fn errors(fields: Value) -> Vec<String> {
    errors_of(Change::Create(set("log", fields)), Vec::new())
}

#[test]
fn valid_set_has_no_errors() {
    assert_eq!(errors(json!({})), Vec::<String>::new());
    let all_fields = json!({
        "spec/namespaceSelector": {"matchLabels": {"team": "a"}},
        "spec/initContainers": [{"name": "i", "image": "i:1", "restartPolicy": "Always"}],
        "spec/volumes": [{"name": "v", "emptyDir": {}}],
        "spec/updateStrategy": {"partition": "10%", "maxUnavailable": 2,
            "scatterStrategy": [{"key": "zone", "value": "*"}],
            "priorityStrategy": {"orderPriority": [{"orderedKey": "n"}]}},
    });
    assert_eq!(errors(all_fields), Vec::<String>::new());
}

/// Each row breaks one rule, and has the end of the only error.
#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn each_broken_rule_is_reported_with_its_field() {
    let update = |value: Value| json!({"spec/updateStrategy": value});
    let side = |value: Value| {
        let mut side = json!({"name": "a", "image": "log:1"});
        for (key, value) in value.as_object().unwrap() {
            side[key] = value.clone();
        }
        json!({"spec/containers": [side]})
    };
    for (change, expected) in [
        (
            json!({"metadata/name": "a.b"}),
            "metadata.name: Invalid value: \"a.b\": sidecarset name must consist of alphanumeric characters or '-'",
        ),
        (
            json!({"metadata/name": "a".repeat(64)}),
            "must be no more than 63 characters",
        ),
        (
            json!({"spec/selector": null}),
            "spec.selector: Required value: no selector defined for SidecarSet",
        ),
        (
            json!({"spec/selector": {}}),
            "spec.selector: Invalid value: {}: empty selector is not valid for sidecarset.",
        ),
        (
            json!({"spec/selector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}}),
            "\"Near\" is not a valid label selector operator",
        ),
        (
            json!({"spec/namespaceSelector": {}}),
            "spec.namespaceSelector: Invalid value: {}: empty namespaceSelector is not valid for sidecarset.",
        ),
        (
            json!({"spec/containers": []}),
            "spec.containers: Required value: no initContainer or container defined for SidecarSet",
        ),
        (
            json!({"spec/initContainers": [{"name": "a", "image": "i"}]}),
            "spec.containers[0].name: Duplicate value: \"a\"",
        ),
        (
            json!({"spec/volumes": [{"name": "v"}, {"name": "v"}]}),
            "spec.volumes[1].name: Duplicate value: \"v\"",
        ),
        (
            json!({"spec/volumes": [{"name": ""}]}),
            "spec.volumes[0].name: Required value",
        ),
        (
            update(json!({"partition": 1, "selector": {"matchLabels": {"a": "b"}}})),
            "Partition and Selector cannot be used together",
        ),
        (
            update(json!({"partition": -1})),
            "spec.updateStrategy.partition: Invalid value: -1: a valid value is a non-negative number or a percentage (e.g. '10%')",
        ),
        (
            update(json!({"partition": "101%"})),
            "a valid value is a non-negative number or a percentage (e.g. '10%')",
        ),
        (
            update(json!({"maxUnavailable": 0})),
            "spec.updateStrategy.maxUnavailable: Invalid value: 0: cannot be 0: no Pod could be updated",
        ),
        (
            update(json!({"maxUnavailable": "0%"})),
            "cannot be 0: no Pod could be updated",
        ),
        (
            update(json!({"scatterStrategy": [{"key": "", "value": "x"}]})),
            "spec.updateStrategy.scatterStrategy[0].key: Required value",
        ),
        (
            update(
                json!({"priorityStrategy": {"weightPriority": [{"weight": 101, "matchSelector": {}}]}}),
            ),
            "must be between 1 and 100, inclusive",
        ),
        (
            update(
                json!({"priorityStrategy": {"weightPriority": [{"weight": 1, "matchSelector": {}}], "orderPriority": [{"orderedKey": "n"}]}}),
            ),
            "only one of weightPriority and orderPriority can be used",
        ),
        (
            json!({"spec/injectionStrategy": {"revision": {}}}),
            "revisionName and customVersion cannot be empty simultaneously",
        ),
        (
            json!({"spec/injectionStrategy": {"revision": {"customVersion": "x"}}}),
            "Cannot find specific ControllerRevision",
        ),
        (
            json!({"spec/patchPodMetadata": [{"annotations": {"k": "1"}}, {"annotations": {"k": "2"}}]}),
            "patch annotation[k] already exist",
        ),
        (
            json!({"spec/patchPodMetadata": [{}]}),
            "no key in patchPodMetadata.annotations",
        ),
        (
            side(
                json!({"resources": {"limits": {"cpu": "1"}}, "resourcesPolicy": {"resourcesExpr": {}}}),
            ),
            "resourcesPolicy and resources cannot be configured together",
        ),
        (
            side(
                json!({"resourcesPolicy": {"targetContainersNameRegex": "(", "resourcesExpr": {}}}),
            ),
            "error: unclosed group",
        ),
        (
            side(json!({"resourcesPolicy": {"resourcesExpr": {"limits": {"cpu": "memory"}}}})),
            "resourcesExpr.limits.cpu: Invalid value: \"memory\": \"memory\" is neither a number nor cpu",
        ),
        (
            side(json!({"upgradeStrategy": {"upgradeType": "HotUpgrade"}})),
            "hotUpgradeEmptyImage: Required value: a hot upgrade requires an image for the idle container",
        ),
        (
            side(json!({"transferEnv": [{"envName": "X"}]})),
            "spec.containers[0].transferEnv[0].sourceContainerName: Required value",
        ),
        (
            side(json!({"transferEnv": [{"sourceContainerName": "app"}]})),
            "spec.containers[0].transferEnv[0].envName: Required value",
        ),
        (
            json!({"metadata/labels": {"apps.kruise.io/sidecarset-canary": "true"}}),
            "RollingUpdate is not supported for canary sidecarSet",
        ),
    ] {
        let text = change.to_string();
        let errors = errors(change);
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        assert!(errors[0].ends_with(expected), "{text}: {errors:?}");
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    let errors = errors(json!({"spec": {}}));
    assert_eq!(errors.len(), 2, "{errors:?}");
}

#[test]
fn update_cannot_add_a_container_or_change_its_upgrade_type() {
    let change = |old: Value, new: Value| {
        let change = Change::Update {
            old: set("log", old),
            new: set("log", new),
        };
        errors_of(change, Vec::new())
    };
    let two =
        json!({"spec/containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "i"}]});
    let errors = change(json!({}), two.clone());
    assert_eq!(
        errors,
        ["spec.containers[1].name: Invalid value: \"b\": container b is not found"]
    );
    assert!(change(two, json!({})).is_empty());
    let hot = json!({"spec/containers": [{"name": "a", "image": "i", "upgradeStrategy":
        {"upgradeType": "HotUpgrade", "hotUpgradeEmptyImage": "e"}}]});
    let errors = change(json!({}), hot);
    assert!(
        errors[0].ends_with("container a upgradeType is immutable"),
        "{errors:?}"
    );
}

#[test]
fn sets_that_may_select_the_same_pods_must_not_conflict() {
    let other = |fields: Value| set("other", fields);
    let disjoint = json!({"matchLabels": {"app": "api"}});
    let volume = |path: &str| json!([{"name": "v", "hostPath": {"path": path}}]);
    let renamed = |mut fields: Value| {
        fields["spec/containers"] = json!([{"name": "x", "image": "i"}]);
        other(fields)
    };
    let annotation = |policy: &str| json!([{"annotations": {"k": "1"}, "patchPolicy": policy}]);
    let hot = json!([{"name": "a", "image": "i", "upgradeStrategy":
        {"upgradeType": "HotUpgrade", "hotUpgradeEmptyImage": "e"}}]);
    for (fields, other, expected) in [
        (
            json!({}),
            other(json!({})),
            Some("container a already exist in other"),
        ),
        (json!({}), other(json!({"spec/selector": disjoint})), None),
        (json!({}), renamed(json!({})), None),
        (
            json!({}),
            other(
                json!({"spec/containers": [], "spec/initContainers": [{"name": "a", "image": "i"}]}),
            ),
            Some("container a already exist in other"),
        ),
        (
            json!({"spec/containers": hot}),
            other(json!({"spec/containers": [{"name": "a-2", "image": "i"}]})),
            Some("container a-2 already exist in other"),
        ),
        (
            json!({"spec/volumes": volume("/a")}),
            renamed(json!({"spec/volumes": volume("/b")})),
            Some("volume v is in conflict with sidecarset other"),
        ),
        (
            json!({"spec/volumes": volume("/a")}),
            renamed(json!({"spec/volumes": volume("/a")})),
            None,
        ),
        (
            json!({"spec/patchPodMetadata": annotation("Retain")}),
            renamed(json!({"spec/patchPodMetadata": annotation("Overwrite")})),
            Some("annotation k is in conflict with sidecarset other"),
        ),
        (
            json!({"spec/patchPodMetadata": annotation("MergePatchJson")}),
            renamed(json!({"spec/patchPodMetadata": annotation("MergePatchJson")})),
            None,
        ),
        (
            json!({"spec/namespaceSelector": {"matchLabels": {"team": "a"}}}),
            other(json!({"spec/namespaceSelector": {"matchLabels": {"team": "b"}}})),
            None,
        ),
    ] {
        let text = fields.to_string();
        let errors = errors_of(Change::Create(set("log", fields)), vec![other]);
        match expected {
            None => assert!(errors.is_empty(), "{text}: {errors:?}"),
            Some(expected) => {
                assert_eq!(errors.len(), 1, "{text}: {errors:?}");
                assert!(errors[0].ends_with(expected), "{text}: {errors:?}");
            }
        }
    }
}

//! The rules for sets. Breaking one is an error 422 with the field and the reason.

use kube::Api;
use kube::api::{Patch, PatchParams};
use kube::core::Status;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::{SidecarSet, operator};

use crate::fixtures::{create_set, set};
use crate::validation::{create_error, create_set_error};

/// Asserts that the error has one cause, with this field and the end of its message.
fn assert_cause(status: &Status, field: &str, message: &str) {
    let (code, reason) = (status.code, status.reason.as_str());
    assert_eq!((code, reason), (422, "Invalid"), "{status:?}");
    let details = status.details.iter();
    let causes: Vec<_> = details.flat_map(|details| &details.causes).collect();
    assert_eq!(causes.len(), 1, "{status:?}");
    assert_eq!(causes[0].field, field, "{status:?}");
    assert!(causes[0].message.ends_with(message), "{status:?}");
    assert!(status.message.contains(message), "{status:?}");
}

/// Builds a valid spec with further fields.
fn spec(fields: Value) -> Value {
    json!(set("rule", fields).spec)
}

/// Builds the fields of a spec with one container that has further fields.
fn side(fields: Value) -> Value {
    let mut side = json!({"name": "side", "image": "log:1"});
    for (key, value) in fields.as_object().expect("fields") {
        side[key] = value.clone();
    }
    json!({"containers": [side]})
}

/// Patches a set with invalid fields, and returns the error.
async fn patch_error(cluster: &Cluster, name: &str, fields: Value) -> Status {
    let sets: Api<SidecarSet> = Api::all(cluster.client());
    let patch = Patch::Merge(json!({"spec": fields}));
    let patched = sets.patch(name, &PatchParams::default(), &patch).await;
    match patched.expect_err("an invalid change") {
        kube::Error::Api(status) => *status,
        other => unreachable!("the response of the server is a status: {other}"),
    }
}

#[kubewright_testing::test]
async fn name_is_alphanumeric_and_has_at_most_63_characters(cluster: Cluster) {
    cluster.run(operator).await;
    for (name, message) in [
        (
            "a.b".to_owned(),
            "sidecarset name must consist of alphanumeric characters or '-'",
        ),
        ("a".repeat(64), "must be no more than 63 characters"),
    ] {
        let status = create_error(&cluster, &name, spec(json!({}))).await;
        assert_cause(&status, "metadata.name", message);
    }
}

#[kubewright_testing::test]
async fn selectors_and_containers_must_not_be_empty(cluster: Cluster) {
    cluster.run(operator).await;
    for (fields, field, message) in [
        (
            json!({"selector": null}),
            "spec.selector",
            "no selector defined for SidecarSet",
        ),
        (
            json!({"selector": {}}),
            "spec.selector",
            "empty selector is not valid for sidecarset.",
        ),
        (
            json!({"namespaceSelector": {}}),
            "spec.namespaceSelector",
            "empty namespaceSelector is not valid for sidecarset.",
        ),
        (
            json!({"containers": []}),
            "spec.containers",
            "no initContainer or container defined for SidecarSet",
        ),
    ] {
        assert_cause(
            &create_error(&cluster, "rule", spec(fields)).await,
            field,
            message,
        );
    }
}

#[kubewright_testing::test]
async fn partition_and_selector_exclude_each_other(cluster: Cluster) {
    cluster.run(operator).await;
    let selector = json!({"matchLabels": {"a": "b"}});
    for partition in [json!(1), json!("10%")] {
        let strategy = json!({"partition": partition, "selector": selector});
        let status =
            create_error(&cluster, "rule", spec(json!({"updateStrategy": strategy}))).await;
        let message = "Partition and Selector cannot be used together";
        assert_cause(&status, "spec.updateStrategy.selector", message);
    }
}

/// Removing a container is valid.
#[kubewright_testing::test]
async fn update_cannot_add_containers_or_change_upgrade_types(cluster: Cluster) {
    cluster.run(operator).await;
    let [first, second] = ["one", "two"].map(|name| json!({"name": name, "image": "i:1"}));
    create_set(
        &cluster,
        set("rule", json!({"containers": [first, second]})),
    )
    .await;
    let third = json!({"name": "three", "image": "i:1"});
    let status = patch_error(
        &cluster,
        "rule",
        json!({"containers": [first, second, third]}),
    )
    .await;
    let message = "container three is not found";
    assert_cause(&status, "spec.containers[2].name", message);
    let hot = json!({"name": "two", "image": "i:1", "upgradeStrategy":
        {"upgradeType": "HotUpgrade", "hotUpgradeEmptyImage": "e:1"}});
    let status = patch_error(&cluster, "rule", json!({"containers": [first, hot]})).await;
    let field = "spec.containers[1].upgradeStrategy.upgradeType";
    assert_cause(&status, field, "container two upgradeType is immutable");
    let fewer = json!({"spec": {"containers": [first]}});
    let after = cluster.patch::<SidecarSet>("rule", fewer).await;
    assert_eq!(after.spec.containers.len(), 1);
}

#[kubewright_testing::test]
async fn sets_for_the_same_pods_must_not_conflict(cluster: Cluster) {
    cluster.run(operator).await;
    let volume = |path: &str| json!([{"name": "v", "hostPath": {"path": path}}]);
    let annotation = |policy: &str| json!([{"annotations": {"k": "1"}, "patchPolicy": policy}]);
    let hot = json!([
        {"name": "side", "image": "i:1"},
        {"name": "hot", "image": "i:1", "upgradeStrategy":
            {"upgradeType": "HotUpgrade", "hotUpgradeEmptyImage": "e:1"}},
    ]);
    let first = json!({"containers": hot, "volumes": volume("/a"),
        "patchPodMetadata": annotation("Overwrite")});
    create_set(&cluster, set("first", first)).await;
    let selector = json!({"matchLabels": {"sample": "first"}});
    let other = json!([{"name": "other", "image": "i:1"}]);
    for (fields, field, message) in [
        (
            json!({"containers": [{"name": "side", "image": "i:1"}]}),
            "spec.containers[0].name",
            "container side already exist in first",
        ),
        (
            json!({"containers": other, "initContainers": [{"name": "side", "image": "i:1"}]}),
            "spec.initContainers[0].name",
            "container side already exist in first",
        ),
        (
            json!({"containers": [{"name": "hot-2", "image": "i:1"}]}),
            "spec.containers[0].name",
            "container hot-2 already exist in first",
        ),
        (
            json!({"containers": other, "volumes": volume("/b")}),
            "spec.volumes[0].name",
            "volume v is in conflict with sidecarset first",
        ),
        (
            json!({"containers": other, "patchPodMetadata": annotation("Retain")}),
            "spec.patchPodMetadata",
            "annotation k is in conflict with sidecarset first",
        ),
    ] {
        let mut spec = spec(fields);
        spec["selector"] = selector.clone();
        assert_cause(
            &create_error(&cluster, "second", spec).await,
            field,
            message,
        );
    }
    // The same volume, and a set for other Pods.
    let same = json!({"selector": selector, "containers": other, "volumes": volume("/a")});
    create_set(&cluster, set("second", same)).await;
    create_set(&cluster, set("third", json!({"volumes": volume("/b")}))).await;
}

#[kubewright_testing::test]
async fn injection_strategy_must_name_an_existing_revision(cluster: Cluster) {
    cluster.run(operator).await;
    let field = "spec.injectionStrategy.revision";
    for (revision, message) in [
        (
            json!({}),
            "revisionName and customVersion cannot be empty simultaneously",
        ),
        (
            json!({"revisionName": "", "customVersion": ""}),
            "revisionName and customVersion cannot be empty simultaneously",
        ),
        (
            json!({"revisionName": "none"}),
            "Cannot find specific ControllerRevision",
        ),
        (
            json!({"customVersion": "none"}),
            "Cannot find specific ControllerRevision",
        ),
    ] {
        let spec = spec(json!({"injectionStrategy": {"revision": revision}}));
        assert_cause(&create_error(&cluster, "rule", spec).await, field, message);
    }
}

#[kubewright_testing::test]
async fn patched_annotations_must_be_unique_and_not_empty(cluster: Cluster) {
    cluster.run(operator).await;
    let twice = json!([{"annotations": {"k": "1"}}, {"annotations": {"k": "2"}}]);
    for (patches, field, message) in [
        (
            twice,
            "spec.patchPodMetadata[1].annotations",
            "patch annotation[k] already exist",
        ),
        (
            json!([{}]),
            "spec.patchPodMetadata[0].annotations",
            "no key in patchPodMetadata.annotations",
        ),
    ] {
        let spec = spec(json!({"patchPodMetadata": patches}));
        assert_cause(&create_error(&cluster, "rule", spec).await, field, message);
    }
}

#[kubewright_testing::test]
async fn resources_exclude_a_resources_policy_and_canaries_a_rolling_update(cluster: Cluster) {
    cluster.run(operator).await;
    let both = json!({"resources": {"limits": {"cpu": "1"}},
        "resourcesPolicy": {"resourcesExpr": {"limits": {"cpu": "cpu"}}}});
    let status = create_error(&cluster, "rule", spec(side(both))).await;
    let message = "resourcesPolicy and resources cannot be configured together";
    assert_cause(&status, "spec.containers[0].resourcesPolicy", message);
    let mut canary = set("rule", json!({}));
    let label = "apps.kruise.io/sidecarset-canary".to_owned();
    canary.metadata.labels = Some([(label, "true".to_owned())].into());
    let message = "RollingUpdate is not supported for canary sidecarSet";
    assert_cause(
        &create_set_error(&cluster, &canary).await,
        "spec.updateStrategy.type",
        message,
    );
}

#[kubewright_testing::test]
async fn containers_and_volumes_are_validated_like_those_of_a_pod(cluster: Cluster) {
    cluster.run(operator).await;
    for (fields, field) in [
        (side(json!({"image": null})), "spec.containers[0].image"),
        (side(json!({"name": "A"})), "spec.containers[0].name"),
        (
            side(json!({"ports": [{"containerPort": 70_000}]})),
            "spec.containers[0].ports[0].containerPort",
        ),
        (
            side(json!({"imagePullPolicy": "Sometimes"})),
            "spec.containers[0].imagePullPolicy",
        ),
        (
            json!({"volumes": [{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}]}),
            "spec.volumes[1].name",
        ),
    ] {
        assert_cause(
            &create_error(&cluster, "rule", spec(fields)).await,
            field,
            "",
        );
    }
}

/// OpenKruise accepts these.
#[kubewright_testing::test]
async fn sets_that_no_pod_could_follow_are_rejected(cluster: Cluster) {
    cluster.run(operator).await;
    for (fields, field, message) in [
        (
            json!({"updateStrategy": {"maxUnavailable": 0}}),
            "spec.updateStrategy.maxUnavailable",
            "cannot be 0: no Pod could be updated",
        ),
        (
            side(json!({"upgradeStrategy": {"upgradeType": "HotUpgrade"}})),
            "spec.containers[0].upgradeStrategy.hotUpgradeEmptyImage",
            "a hot upgrade requires an image for the idle container",
        ),
        (
            json!({"initContainers": [{"name": "side", "image": "i:1"}]}),
            "spec.containers[0].name",
            "Duplicate value: \"side\"",
        ),
    ] {
        assert_cause(
            &create_error(&cluster, "rule", spec(fields)).await,
            field,
            message,
        );
    }
}

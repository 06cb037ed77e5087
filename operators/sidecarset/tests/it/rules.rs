//! The rules of a set, one test for each row: who breaks one is told its field and why, by 422.

use kube::Api;
use kube::api::{Patch, PatchParams};
use kube::core::Status;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::{SidecarSet, operator};

use crate::refusals::{refused, refused_set};
use crate::world::{known, set};

/// What is told: one cause, with this field and a message that ends so.
fn told(status: &Status, (field, why): (&str, &str)) {
    let (code, reason) = (status.code, status.reason.as_str());
    assert_eq!((code, reason), (422, "Invalid"), "{status:?}");
    let causes = status.details.as_ref().map(|details| &details.causes);
    let causes: Vec<_> = causes.into_iter().flatten().collect();
    assert_eq!(causes.len(), 1, "{status:?}");
    assert_eq!(causes[0].field, field, "{status:?}");
    assert!(causes[0].message.ends_with(why), "{status:?}");
    assert!(status.message.contains(why), "{status:?}");
}

/// A sound specification, but for this.
fn spec(more: Value) -> Value {
    json!(set("rule", more).spec)
}

fn side(more: Value) -> Value {
    let mut side = json!({"name": "side", "image": "log:1"});
    for (key, value) in more.as_object().expect("fields") {
        side[key] = value.clone();
    }
    json!({"containers": [side]})
}

/// What becomes of a change of the set.
async fn changed(cluster: &Cluster, name: &str, more: Value) -> Status {
    let sets: Api<SidecarSet> = Api::all(cluster.client());
    let patch = Patch::Merge(json!({"spec": more}));
    let patched = sets.patch(name, &PatchParams::default(), &patch).await;
    match patched.expect_err("the change is refused") {
        kube::Error::Api(status) => *status,
        other => unreachable!("the server answers with a status: {other}"),
    }
}

#[kubewright_testing::test]
async fn rule_name(cluster: Cluster) {
    cluster.run(operator).await;
    for (name, why) in [
        (
            "a.b".to_owned(),
            "sidecarset name must consist of alphanumeric characters or '-'",
        ),
        ("a".repeat(64), "must be no more than 63 characters"),
    ] {
        let status = refused(&cluster, &name, spec(json!({}))).await;
        told(&status, ("metadata.name", why));
    }
}

#[kubewright_testing::test]
async fn rule_selector_and_empty(cluster: Cluster) {
    cluster.run(operator).await;
    for (more, field, why) in [
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
        told(&refused(&cluster, "rule", spec(more)).await, (field, why));
    }
}

#[kubewright_testing::test]
async fn rule_partition_and_selector(cluster: Cluster) {
    cluster.run(operator).await;
    let selector = json!({"matchLabels": {"a": "b"}});
    for partition in [json!(1), json!("10%")] {
        let strategy = json!({"partition": partition, "selector": selector});
        let status = refused(&cluster, "rule", spec(json!({"updateStrategy": strategy}))).await;
        let why = "Partition and Selector cannot be used together";
        told(&status, ("spec.updateStrategy.selector", why));
    }
}

/// No new names; one that goes passes.
#[kubewright_testing::test]
async fn rule_update(cluster: Cluster) {
    cluster.run(operator).await;
    let [one, two] = ["one", "two"].map(|name| json!({"name": name, "image": "i:1"}));
    known(&cluster, set("rule", json!({"containers": [one, two]}))).await;
    let three = json!({"name": "three", "image": "i:1"});
    let status = changed(&cluster, "rule", json!({"containers": [one, two, three]})).await;
    let why = "container three is not found";
    told(&status, ("spec.containers[2].name", why));
    let hot = json!({"name": "two", "image": "i:1", "upgradeStrategy":
        {"upgradeType": "HotUpgrade", "hotUpgradeEmptyImage": "e:1"}});
    let status = changed(&cluster, "rule", json!({"containers": [one, hot]})).await;
    let field = "spec.containers[1].upgradeStrategy.upgradeType";
    told(&status, (field, "container two upgradeType is immutable"));
    let fewer = json!({"spec": {"containers": [one]}});
    let after = cluster.patch::<SidecarSet>("rule", fewer).await;
    assert_eq!(after.spec.containers.len(), 1);
}

/// What another set that may be for the same Pods has is taken.
#[kubewright_testing::test]
async fn rule_other_sets(cluster: Cluster) {
    cluster.run(operator).await;
    let volume = |path: &str| json!([{"name": "v", "hostPath": {"path": path}}]);
    let note = |policy: &str| json!([{"annotations": {"k": "1"}, "patchPolicy": policy}]);
    let hot = json!([
        {"name": "side", "image": "i:1"},
        {"name": "hot", "image": "i:1", "upgradeStrategy":
            {"upgradeType": "HotUpgrade", "hotUpgradeEmptyImage": "e:1"}},
    ]);
    let first = json!({"containers": hot, "volumes": volume("/a"),
        "patchPodMetadata": note("Overwrite")});
    known(&cluster, set("first", first)).await;
    let selector = json!({"matchLabels": {"sample": "first"}});
    let other = json!([{"name": "other", "image": "i:1"}]);
    for (more, field, why) in [
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
            json!({"containers": other, "patchPodMetadata": note("Retain")}),
            "spec.patchPodMetadata",
            "annotation k is in conflict with sidecarset first",
        ),
    ] {
        let mut spec = spec(more);
        spec["selector"] = selector.clone();
        told(&refused(&cluster, "second", spec).await, (field, why));
    }
    // The same volume, and Pods that the other one is not for.
    let same = json!({"selector": selector, "containers": other, "volumes": volume("/a")});
    known(&cluster, set("second", same)).await;
    known(&cluster, set("third", json!({"volumes": volume("/b")}))).await;
}

#[kubewright_testing::test]
async fn rule_revision(cluster: Cluster) {
    cluster.run(operator).await;
    let field = "spec.injectionStrategy.revision";
    for (revision, why) in [
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
        told(&refused(&cluster, "rule", spec).await, (field, why));
    }
}

#[kubewright_testing::test]
async fn rule_patch_pod_metadata(cluster: Cluster) {
    cluster.run(operator).await;
    let twice = json!([{"annotations": {"k": "1"}}, {"annotations": {"k": "2"}}]);
    for (patches, field, why) in [
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
        told(&refused(&cluster, "rule", spec).await, (field, why));
    }
}

#[kubewright_testing::test]
async fn rule_resources_policy_and_canary(cluster: Cluster) {
    cluster.run(operator).await;
    let both = json!({"resources": {"limits": {"cpu": "1"}},
        "resourcesPolicy": {"resourcesExpr": {"limits": {"cpu": "cpu"}}}});
    let status = refused(&cluster, "rule", spec(side(both))).await;
    let why = "resourcesPolicy and resources cannot be configured together";
    told(&status, ("spec.containers[0].resourcesPolicy", why));
    let mut canary = set("rule", json!({}));
    let label = "apps.kruise.io/sidecarset-canary".to_owned();
    canary.metadata.labels = Some([(label, "true".to_owned())].into());
    let why = "RollingUpdate is not supported for canary sidecarSet";
    told(
        &refused_set(&cluster, &canary).await,
        ("spec.updateStrategy.type", why),
    );
}

/// What the API server would say of each Pod is said of the set.
#[kubewright_testing::test]
async fn rule_pod_validation(cluster: Cluster) {
    cluster.run(operator).await;
    for (more, field) in [
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
        told(&refused(&cluster, "rule", spec(more)).await, (field, ""));
    }
}

/// What kruise lets pass, and no Pod could follow.
#[kubewright_testing::test]
async fn rule_beyond(cluster: Cluster) {
    cluster.run(operator).await;
    for (more, field, why) in [
        (
            json!({"updateStrategy": {"maxUnavailable": 0}}),
            "spec.updateStrategy.maxUnavailable",
            "cannot be 0: no Pod could be updated",
        ),
        (
            side(json!({"upgradeStrategy": {"upgradeType": "HotUpgrade"}})),
            "spec.containers[0].upgradeStrategy.hotUpgradeEmptyImage",
            "a hot upgrade needs the image that does nothing",
        ),
        (
            json!({"initContainers": [{"name": "side", "image": "i:1"}]}),
            "spec.containers[0].name",
            "Duplicate value: \"side\"",
        ),
    ] {
        told(&refused(&cluster, "rule", spec(more)).await, (field, why));
    }
}

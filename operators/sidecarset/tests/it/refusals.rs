use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::Status;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::{SidecarSet, operator};

use crate::world::{active, known, pod, read, set};

async fn refused(cluster: &Cluster, name: &str, spec: Value) -> Status {
    let sets: Api<SidecarSet> = Api::all(cluster.client());
    let broken: SidecarSet = read(json!({
        "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
        "metadata": {"name": name}, "spec": spec,
    }));
    let created = sets.create(&PostParams::default(), &broken).await;
    match created.expect_err("the set is refused") {
        kube::Error::Api(status) => *status,
        other => unreachable!("the server answers with a status: {other}"),
    }
}

/// Each rule that a set must keep, with the fields that the answer names.
#[kubewright_testing::test]
async fn a_set_that_breaks_a_rule_is_refused_with_causes(cluster: Cluster) {
    cluster.run(operator).await;
    let container = json!({"name": "a", "image": "log:1"});
    let selector = json!({"matchLabels": {"app": "web"}});
    for (name, spec, fields) in [
        (
            "a.b",
            json!({"selector": selector, "containers": [container]}),
            vec!["metadata.name"],
        ),
        (
            "a",
            json!({"containers": [container]}),
            vec!["spec.selector"],
        ),
        (
            "a",
            json!({"selector": {}, "containers": [container]}),
            vec!["spec.selector"],
        ),
        ("a", json!({"selector": selector}), vec!["spec.containers"]),
        ("a", json!({}), vec!["spec.selector", "spec.containers"]),
        (
            "a",
            json!({"selector": selector, "containers": [{"name": "a"}]}),
            vec!["spec.containers[0].image"],
        ),
        (
            "a",
            json!({"selector": selector, "containers": [container],
                "updateStrategy": {"maxUnavailable": 0, "partition": "x"}}),
            vec![
                "spec.updateStrategy.partition",
                "spec.updateStrategy.maxUnavailable",
            ],
        ),
        (
            "a",
            json!({"selector": selector, "containers": [container],
                "injectionStrategy": {"revision": {"revisionName": "none"}}}),
            vec!["spec.injectionStrategy.revision"],
        ),
    ] {
        let status = refused(&cluster, name, spec).await;
        assert_eq!(
            (status.code, status.reason.as_str()),
            (422, "Invalid"),
            "{status:?}"
        );
        let causes = status
            .details
            .map(|details| details.causes)
            .unwrap_or_default();
        let named: Vec<&str> = causes.iter().map(|cause| cause.field.as_str()).collect();
        assert_eq!(named, fields, "{}", status.message);
    }
}

/// What another set has is taken; a container cannot come later.
#[kubewright_testing::test]
async fn sets_that_may_meet_and_changes_that_no_pod_can_follow_are_refused(cluster: Cluster) {
    cluster.run(operator).await;
    known(&cluster, set("first", json!({}))).await;
    let selector = json!({"matchLabels": {"sample": "first"}});
    let container = json!({"name": "side", "image": "i:1"});
    let spec = json!({"selector": selector, "containers": [container]});
    let status = refused(&cluster, "second", spec).await;
    assert!(
        status
            .message
            .contains("container side already exist in first"),
        "{status:?}"
    );
    let sets: Api<SidecarSet> = Api::all(cluster.client());
    let more = json!([container, {"name": "more", "image": "i:1"}]);
    let patch = json!({"spec": {"containers": more}});
    let patched = sets
        .patch("first", &PatchParams::default(), &Patch::Merge(&patch))
        .await;
    assert!(
        matches!(&patched, Err(kube::Error::Api(status))
            if status.code == 422 && status.message.contains("container more is not found")),
        "{patched:?}"
    );
}

#[kubewright_testing::test]
async fn a_change_that_breaks_a_rule_is_refused_and_a_finalizer_can_still_go(cluster: Cluster) {
    cluster.run(operator).await;
    let mut made = set("kept", json!({}));
    made.metadata.finalizers = Some(vec!["example.com/hold".to_owned()]);
    known(&cluster, made).await;
    let sets: Api<SidecarSet> = Api::all(cluster.client());
    let params = PatchParams::default();
    let broken = json!({"spec": {"containers": null}});
    let patched = sets.patch("kept", &params, &Patch::Merge(&broken)).await;
    assert!(
        matches!(&patched, Err(kube::Error::Api(status)) if status.code == 422),
        "{patched:?}"
    );
    sets.delete("kept", &Default::default())
        .await
        .expect("it is marked");
    let free = json!({"metadata": {"finalizers": null}});
    sets.patch("kept", &params, &Patch::Merge(&free))
        .await
        .expect("the finalizer goes");
    cluster
        .eventually("the set is gone", async |_| {
            sets.get_opt("kept")
                .await
                .expect("the server answers")
                .is_none()
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn a_container_of_the_pods_own_is_never_overwritten(cluster: Cluster) {
    cluster.run(operator).await;
    let named = |name: &str| json!({"containers": [{"name": name, "image": "i:1"}]});
    active(&cluster, set("clash", named("side"))).await;
    cluster.delete::<SidecarSet>("clash").await;
    known(&cluster, set("clash", named("app"))).await;
    let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let pod = pod("p", "clash");
    cluster
        .eventually("the Pod is refused", async |_| {
            pods.create(&params, &pod).await.is_err()
        })
        .await;
    let refused = pods.create(&params, &pod).await;
    let Err(kube::Error::Api(status)) = refused else {
        panic!("it was taken: {refused:?}");
    };
    assert_eq!(status.code, 403);
    assert!(
        status
            .message
            .ends_with("the Pod has a container of that name itself; rename one of them"),
        "{status:?}"
    );
}

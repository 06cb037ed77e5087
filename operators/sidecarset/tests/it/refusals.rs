use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::Status;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::{SidecarSet, operator};

use crate::world::{active, known, pod, read, set};

/// Why a set with that name and specification is not stored.
pub(crate) async fn refused(cluster: &Cluster, name: &str, spec: Value) -> Status {
    let broken: SidecarSet = read(json!({
        "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
        "metadata": {"name": name}, "spec": spec,
    }));
    refused_set(cluster, &broken).await
}

/// Why a set is not stored.
pub(crate) async fn refused_set(cluster: &Cluster, broken: &SidecarSet) -> Status {
    let sets: Api<SidecarSet> = Api::all(cluster.client());
    let created = sets.create(&PostParams::default(), broken).await;
    match created.expect_err("the set is refused") {
        kube::Error::Api(status) => *status,
        other => unreachable!("the server answers with a status: {other}"),
    }
}

/// All that is wrong is told at once.
#[kubewright_testing::test]
async fn a_set_that_breaks_several_rules_is_refused_with_all_causes(cluster: Cluster) {
    cluster.run(operator).await;
    let container = json!({"name": "a", "image": "log:1"});
    let selector = json!({"matchLabels": {"app": "web"}});
    for (spec, fields) in [
        (json!({}), vec!["spec.selector", "spec.containers"]),
        (
            json!({"selector": selector, "containers": [container],
                "updateStrategy": {"maxUnavailable": 0, "partition": "x"}}),
            vec![
                "spec.updateStrategy.partition",
                "spec.updateStrategy.maxUnavailable",
            ],
        ),
    ] {
        let status = refused(&cluster, "a", spec).await;
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

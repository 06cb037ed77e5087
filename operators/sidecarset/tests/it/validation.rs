//! Invalid sets and Pods are rejected.

use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::Status;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::{SidecarSet, operator};

use crate::fixtures::{create_active_set, create_set, dry_run, from_json, pod, set};

/// Creates an invalid set with this spec, and returns the error.
pub(crate) async fn create_error(cluster: &Cluster, name: &str, spec: Value) -> Status {
    let invalid: SidecarSet = from_json(json!({
        "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
        "metadata": {"name": name}, "spec": spec,
    }));
    create_set_error(cluster, &invalid).await
}

/// Creates an invalid set, and returns the error.
pub(crate) async fn create_set_error(cluster: &Cluster, invalid: &SidecarSet) -> Status {
    let sets: Api<SidecarSet> = Api::all(cluster.client());
    let created = sets.create(&PostParams::default(), invalid).await;
    match created.expect_err("an invalid set") {
        kube::Error::Api(status) => *status,
        other => unreachable!("the response of the server is a status: {other}"),
    }
}

#[kubewright_testing::test]
async fn set_that_breaks_several_rules_is_rejected_with_all_causes(cluster: Cluster) {
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
        let status = create_error(&cluster, "a", spec).await;
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
async fn invalid_update_is_rejected_and_a_finalizer_can_still_be_removed(cluster: Cluster) {
    cluster.run(operator).await;
    let mut kept = set("kept", json!({}));
    kept.metadata.finalizers = Some(vec!["example.com/hold".to_owned()]);
    create_set(&cluster, kept).await;
    let sets: Api<SidecarSet> = Api::all(cluster.client());
    let params = PatchParams::default();
    let invalid = json!({"spec": {"containers": null}});
    let patched = sets.patch("kept", &params, &Patch::Merge(&invalid)).await;
    assert!(
        matches!(&patched, Err(kube::Error::Api(status)) if status.code == 422),
        "{patched:?}"
    );
    sets.delete("kept", &Default::default())
        .await
        .expect("delete the set");
    let without_finalizer = json!({"metadata": {"finalizers": null}});
    sets.patch("kept", &params, &Patch::Merge(&without_finalizer))
        .await
        .expect("remove the finalizer");
    cluster
        .eventually("the set is deleted", async |_| {
            sets.get_opt("kept").await.expect("a response").is_none()
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn pod_with_a_container_of_the_same_name_is_rejected(cluster: Cluster) {
    cluster.run(operator).await;
    let named = |name: &str| json!({"containers": [{"name": name, "image": "i:1"}]});
    create_active_set(&cluster, set("conflict", named("side"))).await;
    cluster.delete::<SidecarSet>("conflict").await;
    create_set(&cluster, set("conflict", named("app"))).await;
    let pod = pod("p", "conflict");
    cluster
        .eventually("the Pod is rejected", async |c| {
            dry_run(c, c.namespace(), &pod).await.is_err()
        })
        .await;
    let result = dry_run(&cluster, cluster.namespace(), &pod).await;
    let Err(kube::Error::Api(status)) = result else {
        panic!("the Pod was accepted: {result:?}");
    };
    assert_eq!(status.code, 403);
    assert!(
        status
            .message
            .ends_with("the Pod has a container of that name itself; rename one of them"),
        "{status:?}"
    );
}

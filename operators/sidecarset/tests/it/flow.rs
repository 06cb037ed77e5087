use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::json;
use sidecarset::{INJECTED, SidecarSet, SidecarSetStatus, injected, operator, spec_hash};

use super::{containers, known, pod, set, status};

/// Create the set, see it filled in; create Pods, see them injected; the status counts them.
#[kubewright_testing::test(nodes = 2)]
async fn a_set_is_filled_in_and_its_pods_are_injected_and_counted(cluster: Cluster) {
    cluster.run(operator).await;
    let made = known(&cluster, set("flow", "flow")).await;
    let container = &made.spec.containers[0].container;
    assert_eq!(container.image_pull_policy.as_deref(), Some("IfNotPresent"));
    assert_eq!(
        container.termination_message_policy.as_deref(),
        Some("File")
    );

    let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
    for name in ["one", "two"] {
        let made_pod = pods
            .create(&PostParams::default(), &pod(name, json!({"app": "flow"})))
            .await
            .expect("the Pod is taken");
        assert_eq!(containers(&made_pod), ["side", "app"]);
        let side = &made_pod.spec.as_ref().expect("a spec").containers[0];
        let mut env = side.env.iter().flatten();
        assert!(env.any(|one| one.name == INJECTED && one.value.as_deref() == Some("true")));
        assert_eq!(injected(&made_pod)["flow"].hash, spec_hash(&made));
    }
    let other = pods
        .create(
            &PostParams::default(),
            &pod("other", json!({"app": "else"})),
        )
        .await
        .expect("the Pod is taken");
    assert_eq!(containers(&other), ["app"]);
    cluster
        .eventually("both Pods are counted", async |c| {
            let wanted = SidecarSetStatus {
                observed_generation: 1,
                matched_pods: 2,
                updated_pods: 2,
                ready_pods: 2,
            };
            status(c, "flow").await == wanted
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn a_changed_container_leaves_old_pods_matched_and_not_updated(cluster: Cluster) {
    cluster.run(operator).await;
    known(&cluster, set("change", "change")).await;
    cluster.apply(pod("old", json!({"app": "change"}))).await;
    let sets: Api<SidecarSet> = Api::all(cluster.client());
    let image =
        json!({"spec": {"containers": [{"name": "side", "image": "registry.k8s.io/pause:3.9"}]}});
    sets.patch("change", &PatchParams::default(), &Patch::Merge(&image))
        .await
        .expect("the set is changed");
    cluster
        .eventually("the change is seen", async |c| {
            status(c, "change").await.observed_generation == 2
        })
        .await;
    cluster.apply(pod("new", json!({"app": "change"}))).await;
    cluster
        .eventually("one of two is updated", async |c| {
            let status = status(c, "change").await;
            (status.matched_pods, status.updated_pods) == (2, 1)
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn pods_in_spared_namespaces_are_created_while_the_operator_is_down(cluster: Cluster) {
    cluster.run(operator).await;
    known(&cluster, set("down", "down")).await;
    cluster.stop_operator().await;
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let pod = pod("down", json!({"app": "down"}));
    let here: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
    let refused = here.create(&params, &pod).await;
    assert!(
        matches!(&refused, Err(kube::Error::Api(status)) if status.message.contains("webhook")),
        "{refused:?}"
    );
    for namespace in ["kube-system", "sidecarset-system"] {
        let there: Api<Pod> = Api::namespaced(cluster.client(), namespace);
        // The account that a Pod needs may still be on its way.
        cluster
            .eventually("a Pod is taken", async |_| {
                let made = there.create(&params, &pod).await;
                made.is_ok_and(|made| containers(&made) == ["app"])
            })
            .await;
    }
}

//! The steps of an injection and of a roll-out that no row of the API stands for.

use std::time::Duration;

use k8s_openapi::api::apps::v1::ControllerRevision;
use kube::Api;
use kube::api::PostParams;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::{CUSTOM_VERSION_LABEL, SET_LABEL, SidecarSet, operator};

use crate::world::{
    IMAGE, NAMESPACE, NEWER, active, change, container, containers, images, newer, pod, pod_with,
    read, running, set, status,
};

fn texts(list: &Value, field: &str) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|one| one[field].as_str().map(str::to_owned))
        .collect()
}

/// Sets come by their names, whatever order they were made in; one that is paused is left out.
#[kubewright_testing::test(nodes = 1)]
async fn step_injection_1_sets_come_by_name_and_paused_ones_are_dropped(cluster: Cluster) {
    cluster.run(operator).await;
    let selector = json!({"matchLabels": {"sample": "chosen"}});
    for (name, is_paused) in [("c-set", false), ("b-set", true), ("a-set", false)] {
        let more = json!({"selector": selector, "injectionStrategy": {"paused": is_paused},
            "containers": [{"name": name, "image": IMAGE}]});
        cluster.create(set(name, more)).await;
    }
    let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let probe = pod("probe", "chosen");
    cluster
        .eventually("both sets are for the Pod", async |_| {
            let made = pods.create(&params, &probe).await;
            made.is_ok_and(|made| containers(&made) == ["a-set", "c-set", "app"])
        })
        .await;
}

/// The version that the set names is not there any more.
#[kubewright_testing::test(nodes = 1)]
async fn step_injection_2_a_revision_that_is_not_found_refuses_the_pod(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "lost";
    let more = json!({"customVersion": "one", "updateStrategy": {"type": "NotUpdate"}});
    active(&cluster, set(name, more)).await;
    change(&cluster, name, json!({"customVersion": "two"})).await;
    let there = cluster.in_namespace(NAMESPACE);
    let first = async |c: &Cluster| {
        let all = c.list::<ControllerRevision>().await;
        let is_it = |one: &ControllerRevision| {
            let label = |key: &str| one.labels().get(key).map(String::as_str);
            label(SET_LABEL) == Some(name) && label(CUSTOM_VERSION_LABEL) == Some("one")
        };
        all.into_iter().find(is_it).map(|one| one.name_any())
    };
    there
        .eventually("the first version is kept", async |c| {
            first(c).await.is_some()
        })
        .await;
    let older = json!({"spec": {"injectionStrategy": {"revision": {"customVersion": "one"}}}});
    cluster.patch::<SidecarSet>(name, older).await;
    let kept = first(&there).await.expect("it was there");
    there.delete::<ControllerRevision>(&kept).await;
    let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let probe = pod("probe", name);
    cluster
        .eventually("the Pod is refused", async |_| {
            let refused = pods.create(&params, &probe).await;
            matches!(refused, Err(kube::Error::Api(status)) if status.code == 403)
        })
        .await;
}

/// Own variables and mounts win over those that come from the Pod.
#[kubewright_testing::test(nodes = 1)]
async fn step_injection_5_what_a_container_has_itself_wins(cluster: Cluster) {
    cluster.run(operator).await;
    let side = json!({
        "name": "side", "image": IMAGE,
        "env": [{"name": "COLOR", "value": "own"}],
        "volumeMounts": [{"name": "cache", "mountPath": "/data"}],
        "shareVolumePolicy": {"type": "enabled"},
        "transferEnv": [{"sourceContainerName": "app", "envNames": ["COLOR", "SIZE"]}],
    });
    let more = json!({"containers": [side], "volumes": [{"name": "cache", "emptyDir": {}}]});
    active(&cluster, set("wins", more)).await;
    let app = json!({
        "env": [{"name": "COLOR", "value": "app"}, {"name": "SIZE", "value": "7"},
            {"name": "PART", "value": "x"}],
        "volumeMounts": [{"name": "data", "mountPath": "/data"},
            {"name": "data", "mountPath": "/parts", "subPathExpr": "$(PART)"}],
    });
    let mut made = pod_with("a", "wins", json!({}), app);
    let spec = made.spec.get_or_insert_default();
    spec.volumes = Some(read(json!([{"name": "data", "emptyDir": {}}])));
    let made = cluster.create(made).await;
    let side = container(&made, "side");
    let env: Vec<_> = texts(&side["env"], "name");
    for name in ["COLOR", "IS_INJECTED", "SIZE", "PART"] {
        assert_eq!(env.iter().filter(|one| *one == name).count(), 1, "{env:?}");
    }
    assert_eq!(env[..2], ["COLOR", "IS_INJECTED"]);
    assert_eq!(side["env"][0]["value"], "own");
    let mounts = side["volumeMounts"].as_array().expect("mounts");
    let of = |path: &str| -> Vec<&Value> {
        let all = mounts.iter().filter(|one| one["mountPath"] == path);
        all.map(|one| &one["name"]).collect()
    };
    assert_eq!(of("/data"), ["cache"]);
    assert_eq!(of("/parts"), ["data"]);
}

/// Volumes of the Pod win over those of the same name; secrets are united.
#[kubewright_testing::test(nodes = 1)]
async fn step_injection_6_volumes_of_the_pod_win_and_secrets_are_united(cluster: Cluster) {
    cluster.run(operator).await;
    let side = json!({"name": "side", "image": IMAGE,
        "volumeMounts": [{"name": "data", "mountPath": "/d"}]});
    let more = json!({"containers": [side],
        "volumes": [{"name": "data", "hostPath": {"path": "/set"}}],
        "imagePullSecrets": [{"name": "both"}, {"name": "set"}]});
    active(&cluster, set("united", more)).await;
    let mut made = pod("a", "united");
    let spec = made.spec.get_or_insert_default();
    spec.volumes = Some(read(json!([{"name": "data", "emptyDir": {}}])));
    spec.image_pull_secrets = Some(read(json!([{"name": "own"}, {"name": "both"}])));
    let made = json!(cluster.create(made).await.spec);
    assert_eq!(
        texts(&made["imagePullSecrets"], "name"),
        ["own", "both", "set"]
    );
    let volumes = made["volumes"].as_array().expect("volumes");
    let data: Vec<_> = volumes.iter().filter(|one| one["name"] == "data").collect();
    assert_eq!(data.len(), 1, "{volumes:?}");
    assert_eq!(data[0]["emptyDir"], json!({}));
}

/// A Pod that is not ready is updated whatever the budget says, and first.
#[kubewright_testing::test(nodes = 1)]
async fn step_roll_out_6_pods_that_are_not_ready_come_first(cluster: Cluster) {
    cluster.run(operator).await;
    let more = json!({"updateStrategy": {"partition": 2}});
    active(&cluster, set("unready", more)).await;
    running(&cluster, ["a", "b", "c"].map(|one| pod(one, "unready"))).await;
    cluster.set_pod_ready("b", false).await;
    cluster
        .eventually("two are counted as ready", async |c| {
            let status = status(c, "unready").await;
            (status.matched_pods, status.updated_pods, status.ready_pods) == (3, 3, 2)
        })
        .await;
    change(&cluster, "unready", json!({})).await;
    cluster
        .eventually("one is updated", async |c| newer(c).await == 1)
        .await;
    assert_eq!(images(&cluster, "side").await["b"], NEWER);
}

#[kubewright_testing::test(nodes = 1)]
async fn step_roll_out_6_the_younger_come_first(cluster: Cluster) {
    cluster.run(operator).await;
    let more = json!({"updateStrategy": {"partition": 2}});
    active(&cluster, set("younger", more)).await;
    for name in ["a", "b", "c"] {
        running(&cluster, [pod(name, "younger")]).await;
        // The API server tells ages in seconds.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
    }
    change(&cluster, "younger", json!({})).await;
    cluster
        .eventually("one is updated", async |c| newer(c).await == 1)
        .await;
    assert_eq!(images(&cluster, "side").await["c"], NEWER);
}

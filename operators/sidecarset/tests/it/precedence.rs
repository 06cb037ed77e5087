//! What takes precedence: among sets, between a set and its Pod, and among Pods of a roll-out.

use std::time::Duration;

use k8s_openapi::api::apps::v1::ControllerRevision;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::{CUSTOM_VERSION_LABEL, SET_LABEL, SidecarSet, operator};

use crate::fixtures::{
    IMAGE, NAMESPACE, NEW_IMAGE, container, containers, create_active_set, create_ready_pods,
    dry_run, from_json, images, pod, pod_with, set, status, update_image, updated_count,
};

/// The values of a field of all items.
fn values(list: &Value, field: &str) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items
        .filter_map(|item| item[field].as_str().map(str::to_owned))
        .collect()
}

/// Whatever order the sets were created in.
#[kubewright_testing::test(nodes = 1)]
async fn sets_are_injected_by_name_without_paused_ones(cluster: Cluster) {
    cluster.run(operator).await;
    let selector = json!({"matchLabels": {"sample": "chosen"}});
    for (name, is_paused) in [("c-set", false), ("b-set", true), ("a-set", false)] {
        let fields = json!({"selector": selector, "injectionStrategy": {"paused": is_paused},
            "containers": [{"name": name, "image": IMAGE}]});
        cluster.create(set(name, fields)).await;
    }
    let probe = pod("probe", "chosen");
    cluster
        .eventually("both sets are injected", async |c| {
            let pod = dry_run(c, c.namespace(), &probe).await;
            pod.is_ok_and(|pod| containers(&pod) == ["a-set", "c-set", "app"])
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn pod_is_rejected_if_the_named_revision_was_deleted(cluster: Cluster) {
    cluster.run(operator).await;
    let name = "lost";
    let fields = json!({"customVersion": "one", "updateStrategy": {"type": "NotUpdate"}});
    create_active_set(&cluster, set(name, fields)).await;
    update_image(&cluster, name, json!({"customVersion": "two"})).await;
    let own_namespace = cluster.in_namespace(NAMESPACE);
    let first_revision = async |c: &Cluster| {
        let is_first = |revision: &&ControllerRevision| {
            let label = |key: &str| revision.labels().get(key).map(String::as_str);
            label(SET_LABEL) == Some(name) && label(CUSTOM_VERSION_LABEL) == Some("one")
        };
        let revisions = c.list::<ControllerRevision>().await;
        revisions.iter().find(is_first).map(ResourceExt::name_any)
    };
    own_namespace
        .eventually("the first version has a revision", async |c| {
            first_revision(c).await.is_some()
        })
        .await;
    let older = json!({"spec": {"injectionStrategy": {"revision": {"customVersion": "one"}}}});
    cluster.patch::<SidecarSet>(name, older).await;
    let revision = first_revision(&own_namespace).await.expect("a revision");
    own_namespace.delete::<ControllerRevision>(&revision).await;
    let probe = pod("probe", name);
    cluster
        .eventually("the Pod is rejected", async |c| {
            let result = dry_run(c, c.namespace(), &probe).await;
            matches!(result, Err(kube::Error::Api(status)) if status.code == 403)
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn variables_and_mounts_of_the_sidecar_take_precedence_over_those_of_the_pod(
    cluster: Cluster,
) {
    cluster.run(operator).await;
    let side = json!({
        "name": "side", "image": IMAGE,
        "env": [{"name": "COLOR", "value": "own"}],
        "volumeMounts": [{"name": "cache", "mountPath": "/data"}],
        "shareVolumePolicy": {"type": "enabled"},
        "transferEnv": [{"sourceContainerName": "app", "envNames": ["COLOR", "SIZE"]}],
    });
    let fields = json!({"containers": [side], "volumes": [{"name": "cache", "emptyDir": {}}]});
    create_active_set(&cluster, set("wins", fields)).await;
    let app = json!({
        "env": [{"name": "COLOR", "value": "app"}, {"name": "SIZE", "value": "7"},
            {"name": "PART", "value": "x"}],
        "volumeMounts": [{"name": "data", "mountPath": "/data"},
            {"name": "data", "mountPath": "/parts", "subPathExpr": "$(PART)"}],
    });
    let mut pod = pod_with("a", "wins", json!({}), app);
    let spec = pod.spec.get_or_insert_default();
    spec.volumes = Some(from_json(json!([{"name": "data", "emptyDir": {}}])));
    let created = cluster.create(pod).await;
    let side = container(&created, "side");
    let env: Vec<_> = values(&side["env"], "name");
    for name in ["COLOR", "IS_INJECTED", "SIZE", "PART"] {
        let count = env.iter().filter(|variable| *variable == name).count();
        assert_eq!(count, 1, "{env:?}");
    }
    assert_eq!(env[..2], ["COLOR", "IS_INJECTED"]);
    assert_eq!(side["env"][0]["value"], "own");
    let mounts = side["volumeMounts"].as_array().expect("mounts");
    let volumes_at = |path: &str| -> Vec<&Value> {
        let at_path = mounts.iter().filter(|mount| mount["mountPath"] == path);
        at_path.map(|mount| &mount["name"]).collect()
    };
    assert_eq!(volumes_at("/data"), ["cache"]);
    assert_eq!(volumes_at("/parts"), ["data"]);
}

#[kubewright_testing::test(nodes = 1)]
async fn volumes_of_the_pod_take_precedence_and_secrets_are_merged(cluster: Cluster) {
    cluster.run(operator).await;
    let side = json!({"name": "side", "image": IMAGE,
        "volumeMounts": [{"name": "data", "mountPath": "/d"}]});
    let fields = json!({"containers": [side],
        "volumes": [{"name": "data", "hostPath": {"path": "/set"}}],
        "imagePullSecrets": [{"name": "both"}, {"name": "set"}]});
    create_active_set(&cluster, set("merged", fields)).await;
    let mut pod = pod("a", "merged");
    let spec = pod.spec.get_or_insert_default();
    spec.volumes = Some(from_json(json!([{"name": "data", "emptyDir": {}}])));
    spec.image_pull_secrets = Some(from_json(json!([{"name": "own"}, {"name": "both"}])));
    let spec = json!(cluster.create(pod).await.spec);
    assert_eq!(
        values(&spec["imagePullSecrets"], "name"),
        ["own", "both", "set"]
    );
    let volumes = spec["volumes"].as_array().expect("volumes");
    let data: Vec<_> = volumes
        .iter()
        .filter(|volume| volume["name"] == "data")
        .collect();
    assert_eq!(data.len(), 1, "{volumes:?}");
    assert_eq!(data[0]["emptyDir"], json!({}));
}

/// Whatever `maxUnavailable` is.
#[kubewright_testing::test(nodes = 1)]
async fn pods_that_are_not_ready_are_updated_first(cluster: Cluster) {
    cluster.run(operator).await;
    let fields = json!({"updateStrategy": {"partition": 2}});
    create_active_set(&cluster, set("unready", fields)).await;
    create_ready_pods(&cluster, ["a", "b", "c"].map(|name| pod(name, "unready"))).await;
    cluster.set_pod_ready("b", false).await;
    cluster
        .eventually("two Pods are counted as ready", async |c| {
            let status = status(c, "unready").await;
            (status.matched_pods, status.updated_pods, status.ready_pods) == (3, 3, 2)
        })
        .await;
    update_image(&cluster, "unready", json!({})).await;
    cluster
        .eventually("one Pod is updated", async |c| updated_count(c).await == 1)
        .await;
    assert_eq!(images(&cluster, "side").await["b"], NEW_IMAGE);
}

#[kubewright_testing::test(nodes = 1)]
async fn younger_pods_are_updated_first(cluster: Cluster) {
    cluster.run(operator).await;
    let fields = json!({"updateStrategy": {"partition": 2}});
    create_active_set(&cluster, set("younger", fields)).await;
    for name in ["a", "b", "c"] {
        create_ready_pods(&cluster, [pod(name, "younger")]).await;
        // Creation times are in whole seconds.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
    }
    update_image(&cluster, "younger", json!({})).await;
    cluster
        .eventually("one Pod is updated", async |c| updated_count(c).await == 1)
        .await;
    assert_eq!(images(&cluster, "side").await["c"], NEW_IMAGE);
}

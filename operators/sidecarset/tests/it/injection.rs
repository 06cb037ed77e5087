//! What new Pods get: one test for each row of the API that is about it, with its sample.

use k8s_openapi::api::core::v1::Namespace;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::operator;

use crate::world::{
    active, change, container, containers, known, pod, pod_with, read, sample, seen, set,
};

fn names(list: &Value, field: &str) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|one| one[field].as_str().map(str::to_owned))
        .collect()
}

#[kubewright_testing::test(nodes = 1)]
async fn row_selector(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, sample("rows/selector")).await;
    let labels = |tier: &str| json!({"labels": {"tier": tier}});
    for (name, tier, wanted) in [
        ("a", "open", vec!["side", "app"]),
        ("b", "secret", vec!["app"]),
    ] {
        let made = pod_with(name, "selector", labels(tier), json!({}));
        assert_eq!(containers(&cluster.create(made).await), wanted);
    }
}

#[kubewright_testing::test(nodes = 1)]
async fn row_containers(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, sample("rows/containers")).await;
    let made = cluster.create(pod("a", "containers")).await;
    assert_eq!(containers(&made), ["side", "second", "app"]);
    let ports = container(&made, "side")["ports"].clone();
    assert_eq!(ports, json!([{"containerPort": 8080, "protocol": "TCP"}]));
}

#[kubewright_testing::test(nodes = 1)]
async fn row_namespace_selector(cluster: Cluster) {
    cluster.run(operator).await;
    let made = known(&cluster, sample("rows/namespace-selector")).await;
    let before = cluster.create(pod("before", &made.name_any())).await;
    assert_eq!(containers(&before), ["app"]);
    let label = json!({"metadata": {"labels": {"sidecars": "yes"}}});
    cluster.patch::<Namespace>(cluster.namespace(), label).await;
    cluster
        .eventually("Pods of the namespace are injected", async |c| {
            c.delete::<Pod>("after").await;
            if c.get::<Pod>("after").await.is_some() {
                return false;
            }
            let after = c.create(pod("after", &made.name_any())).await;
            containers(&after) == ["side", "app"]
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn row_init_containers(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, sample("rows/init-containers")).await;
    let made = cluster.create(pod("a", "init-containers")).await;
    assert_eq!(containers(&made), ["app"]);
    let spec = made.spec.unwrap_or_default();
    let initial = json!(spec.init_containers);
    assert_eq!(names(&initial, "name"), ["native", "prepare"]);
}

#[kubewright_testing::test(nodes = 1)]
async fn row_volumes_and_image_pull_secrets(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, sample("rows/volumes")).await;
    let made = cluster.create(pod("a", "volumes")).await;
    let spec = json!(made.spec);
    let volumes = names(&spec["volumes"], "name");
    assert!(volumes.contains(&"cache".to_owned()), "{volumes:?}");
    assert!(!volumes.contains(&"unused".to_owned()), "{volumes:?}");
    assert_eq!(names(&spec["imagePullSecrets"], "name"), ["registry"]);
}

#[kubewright_testing::test(nodes = 1)]
async fn row_injection_strategy_paused(cluster: Cluster) {
    cluster.run(operator).await;
    known(&cluster, sample("rows/injection")).await;
    let made = cluster.create(pod("a", "injection")).await;
    assert_eq!(containers(&made), ["app"]);
}

#[kubewright_testing::test(nodes = 1)]
async fn row_patch_pod_metadata(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, sample("rows/patch-pod-metadata")).await;
    let own = json!({"annotations":
        {"kept": "own", "replaced": "own", "merged": r#"{"app":2}"#}});
    let made = cluster
        .create(pod_with("a", "patch-pod-metadata", own, json!({})))
        .await;
    let said = |pod: &Pod| ["kept", "replaced", "merged"].map(|key| pod.annotations()[key].clone());
    assert_eq!(said(&made), ["own", "from-set", r#"{"app":2,"side":1}"#]);
    let patches = json!([
        {"annotations": {"kept": "newer"}, "patchPolicy": "Retain"},
        {"annotations": {"replaced": "newer"}, "patchPolicy": "Overwrite"},
        {"annotations": {"merged": r#"{"side":3}"#}, "patchPolicy": "MergePatchJson"},
    ]);
    change(
        &cluster,
        "patch-pod-metadata",
        json!({"patchPodMetadata": patches}),
    )
    .await;
    cluster
        .eventually("the running Pod has the newer annotations", async |c| {
            let pod = c.get::<Pod>("a").await.expect("the Pod");
            said(&pod) == ["own", "newer", r#"{"app":2,"side":3}"#]
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn row_pod_inject_policy(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, sample("rows/pod-inject-policy")).await;
    let made = cluster.create(pod("a", "pod-inject-policy")).await;
    assert_eq!(containers(&made), ["before", "app", "after"]);
}

#[kubewright_testing::test(nodes = 1)]
async fn row_share_volume_policy(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, sample("rows/share-volume-policy")).await;
    let mounts = json!({"volumeMounts": [{"name": "data", "mountPath": "/data"}]});
    let mut made = pod_with("a", "share-volume-policy", json!({}), mounts);
    let spec = made.spec.get_or_insert_default();
    spec.volumes = serde_json::from_value(json!([{"name": "data", "emptyDir": {}}])).ok();
    let made = cluster.create(made).await;
    let mounts = names(&container(&made, "side")["volumeMounts"], "mountPath");
    assert!(mounts.contains(&"/data".to_owned()), "{mounts:?}");
    let token = "/var/run/secrets/kubernetes.io/serviceaccount".to_owned();
    let times = mounts.iter().filter(|path| **path == token).count();
    assert_eq!(times, 1, "{mounts:?}");
}

#[kubewright_testing::test(nodes = 1)]
async fn row_transfer_env(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, sample("rows/transfer-env")).await;
    let env = json!({"env": [{"name": "COLOR", "value": "blue"}, {"name": "SIZE", "value": "1"}]});
    let made = cluster
        .create(pod_with("a", "transfer-env", json!({}), env))
        .await;
    let env = container(&made, "side")["env"].clone();
    assert_eq!(names(&env, "name"), ["IS_INJECTED", "COLOR"]);
    assert_eq!(env[1]["value"], "blue");
}

#[kubewright_testing::test(nodes = 1)]
async fn row_resources_policy(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, sample("rows/resources-policy")).await;
    let resources = json!({"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}});
    let made = pod_with("a", "resources-policy", json!({}), resources);
    let made = cluster.create(made).await;
    assert_eq!(
        container(&made, "side")["resources"],
        json!({"limits": {"cpu": "500m", "memory": "536870912"}, "requests": {"cpu": "10m",
            "memory": "536870912"}})
    );
}

#[kubewright_testing::test(nodes = 1)]
async fn row_resources_policy_max(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, sample("rows/resources-policy-max")).await;
    let limited =
        |cpu: &str, memory: &str| json!({"resources": {"limits": {"cpu": cpu, "memory": memory}}});
    let mut made = pod_with("a", "resources-policy-max", json!({}), limited("1", "64Mi"));
    let spec = made.spec.get_or_insert_default();
    for (name, resources) in [("app2", limited("2", "32Mi")), ("db", limited("8", "1Gi"))] {
        let mut container = resources;
        container["name"] = name.into();
        container["image"] = crate::world::IMAGE.into();
        spec.containers.push(read(container));
    }
    let made = cluster.create(made).await;
    assert_eq!(
        container(&made, "side")["resources"]["limits"],
        json!({"cpu": "2", "memory": "67108864"})
    );
}

#[kubewright_testing::test(nodes = 1)]
async fn row_share_volume_device_policy(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, sample("rows/share-volume-device-policy")).await;
    let devices = json!({"volumeDevices": [{"name": "disk", "devicePath": "/dev/disk"}]});
    let mut made = pod_with(
        "a",
        "share-volume-device-policy",
        json!({}),
        devices.clone(),
    );
    let spec = made.spec.get_or_insert_default();
    let claim = json!([{"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}]);
    spec.volumes = Some(read(claim));
    let made = cluster.create(made).await;
    assert_eq!(
        container(&made, "side")["volumeDevices"],
        devices["volumeDevices"]
    );
}

#[kubewright_testing::test(nodes = 1)]
async fn row_transfer_env_from_a_label_and_several_names(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, sample("rows/transfer-env-from")).await;
    let env = json!({"env": [{"name": "COLOR", "value": "blue"}, {"name": "OTHER", "value": "1"},
        {"name": "SIZE", "value": "7"}]});
    let labels = json!({"labels": {"main": "app"}});
    let made = cluster
        .create(pod_with("a", "transfer-env-from", labels, env))
        .await;
    let env = container(&made, "side")["env"].clone();
    assert_eq!(names(&env, "name"), ["IS_INJECTED", "COLOR", "SIZE"]);
    assert_eq!(
        (&env[1]["value"], &env[2]["value"]),
        (&json!("blue"), &json!("7"))
    );
}

/// What another injector, or the server, adds to a sidecar stays.
#[kubewright_testing::test(nodes = 1)]
async fn a_sidecar_gets_the_token_of_the_account_like_any_container(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, set("token", json!({}))).await;
    let made = cluster.create(pod("a", "token")).await;
    let mounts = |name: &str| names(&container(&made, name)["volumeMounts"], "mountPath");
    assert_eq!(mounts("side"), mounts("app"));
}

/// A canary stands in the place of its base.
#[kubewright_testing::test(nodes = 1)]
async fn row_canary(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, set("base", json!({}))).await;
    let selector = json!({"matchLabels": {"sample": "base", "try": "yes"}});
    let more = json!({"selector": selector, "updateStrategy": {"type": "NotUpdate"},
        "containers": [{"name": "trial", "image": crate::world::IMAGE}]});
    let mut canary = set("canary", more);
    let labels = canary.labels_mut();
    labels.insert(
        "apps.kruise.io/sidecarset-canary".to_owned(),
        "true".to_owned(),
    );
    labels.insert(
        "apps.kruise.io/sidecarset-base".to_owned(),
        "base".to_owned(),
    );
    let made = cluster.create(canary).await;
    seen(&cluster, &made).await;
    for (name, labels, wanted) in [
        ("a", json!({"try": "yes"}), ["trial", "app"]),
        ("b", json!({}), ["side", "app"]),
    ] {
        let made = pod_with(name, "base", json!({"labels": labels}), json!({}));
        cluster
            .eventually(format!("Pod {name} is injected"), async |c| {
                c.delete::<Pod>(name).await;
                if c.get::<Pod>(name).await.is_some() {
                    return false;
                }
                containers(&c.create(made.clone()).await) == wanted
            })
            .await;
    }
}

//! The fields of a set that affect new Pods, each with its sample.

use k8s_openapi::api::core::v1::Namespace;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::operator;

use crate::fixtures::{
    container, containers, create_active_set, create_set, from_json, pod, pod_with, sample, set,
    update_image, wait_until_observed,
};

/// The values of a field of all items.
fn values(list: &Value, field: &str) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items
        .filter_map(|item| item[field].as_str().map(str::to_owned))
        .collect()
}

#[kubewright_testing::test(nodes = 1)]
async fn selector_limits_the_injection_to_matching_pods(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, sample("rows/selector")).await;
    let labels = |tier: &str| json!({"labels": {"tier": tier}});
    for (name, tier, expected) in [
        ("a", "open", vec!["side", "app"]),
        ("b", "secret", vec!["app"]),
    ] {
        let pod = pod_with(name, "selector", labels(tier), json!({}));
        assert_eq!(containers(&cluster.create(pod).await), expected);
    }
}

#[kubewright_testing::test(nodes = 1)]
async fn containers_are_injected_with_defaults(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, sample("rows/containers")).await;
    let created = cluster.create(pod("a", "containers")).await;
    assert_eq!(containers(&created), ["side", "second", "app"]);
    let ports = container(&created, "side")["ports"].clone();
    assert_eq!(ports, json!([{"containerPort": 8080, "protocol": "TCP"}]));
}

#[kubewright_testing::test(nodes = 1)]
async fn namespace_selector_limits_the_injection_to_matching_namespaces(cluster: Cluster) {
    cluster.run(operator).await;
    let set = create_set(&cluster, sample("rows/namespace-selector")).await;
    let before = cluster.create(pod("before", &set.name_any())).await;
    assert_eq!(containers(&before), ["app"]);
    let label = json!({"metadata": {"labels": {"sidecars": "yes"}}});
    cluster.patch::<Namespace>(cluster.namespace(), label).await;
    cluster
        .eventually("Pods of the namespace are injected", async |c| {
            c.delete::<Pod>("after").await;
            if c.get::<Pod>("after").await.is_some() {
                return false;
            }
            let after = c.create(pod("after", &set.name_any())).await;
            containers(&after) == ["side", "app"]
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn init_containers_are_injected_by_name(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, sample("rows/init-containers")).await;
    let created = cluster.create(pod("a", "init-containers")).await;
    assert_eq!(containers(&created), ["app"]);
    let spec = created.spec.unwrap_or_default();
    let init_containers = json!(spec.init_containers);
    assert_eq!(values(&init_containers, "name"), ["native", "prepare"]);
}

#[kubewright_testing::test(nodes = 1)]
async fn mounted_volumes_and_image_pull_secrets_are_injected(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, sample("rows/volumes")).await;
    let created = cluster.create(pod("a", "volumes")).await;
    let spec = json!(created.spec);
    let volumes = values(&spec["volumes"], "name");
    assert!(volumes.contains(&"cache".to_owned()), "{volumes:?}");
    assert!(!volumes.contains(&"unused".to_owned()), "{volumes:?}");
    assert_eq!(values(&spec["imagePullSecrets"], "name"), ["registry"]);
}

#[kubewright_testing::test(nodes = 1)]
async fn paused_injection_strategy_injects_nothing(cluster: Cluster) {
    cluster.run(operator).await;
    create_set(&cluster, sample("rows/injection")).await;
    let created = cluster.create(pod("a", "injection")).await;
    assert_eq!(containers(&created), ["app"]);
}

#[kubewright_testing::test(nodes = 1)]
async fn patch_pod_metadata_patches_annotations_by_policy(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, sample("rows/patch-pod-metadata")).await;
    let own = json!({"annotations":
        {"kept": "own", "replaced": "own", "merged": r#"{"app":2}"#}});
    let created = cluster
        .create(pod_with("a", "patch-pod-metadata", own, json!({})))
        .await;
    let annotations =
        |pod: &Pod| ["kept", "replaced", "merged"].map(|key| pod.annotations()[key].clone());
    assert_eq!(
        annotations(&created),
        ["own", "from-set", r#"{"app":2,"side":1}"#]
    );
    let patches = json!([
        {"annotations": {"kept": "newer"}, "patchPolicy": "Retain"},
        {"annotations": {"replaced": "newer"}, "patchPolicy": "Overwrite"},
        {"annotations": {"merged": r#"{"side":3}"#}, "patchPolicy": "MergePatchJson"},
    ]);
    update_image(
        &cluster,
        "patch-pod-metadata",
        json!({"patchPodMetadata": patches}),
    )
    .await;
    cluster
        .eventually("the running Pod has the new annotations", async |c| {
            let pod = c.get::<Pod>("a").await.expect("the Pod");
            annotations(&pod) == ["own", "newer", r#"{"app":2,"side":3}"#]
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn pod_inject_policy_orders_the_containers(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, sample("rows/pod-inject-policy")).await;
    let created = cluster.create(pod("a", "pod-inject-policy")).await;
    assert_eq!(containers(&created), ["before", "app", "after"]);
}

#[kubewright_testing::test(nodes = 1)]
async fn share_volume_policy_adds_the_mounts_of_the_pod(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, sample("rows/share-volume-policy")).await;
    let mounts = json!({"volumeMounts": [{"name": "data", "mountPath": "/data"}]});
    let mut pod = pod_with("a", "share-volume-policy", json!({}), mounts);
    let spec = pod.spec.get_or_insert_default();
    spec.volumes = serde_json::from_value(json!([{"name": "data", "emptyDir": {}}])).ok();
    let created = cluster.create(pod).await;
    let mounts = values(&container(&created, "side")["volumeMounts"], "mountPath");
    assert!(mounts.contains(&"/data".to_owned()), "{mounts:?}");
    let token = "/var/run/secrets/kubernetes.io/serviceaccount".to_owned();
    let count = mounts.iter().filter(|path| **path == token).count();
    assert_eq!(count, 1, "{mounts:?}");
}

#[kubewright_testing::test(nodes = 1)]
async fn transfer_env_copies_variables_of_the_pod(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, sample("rows/transfer-env")).await;
    let env = json!({"env": [{"name": "COLOR", "value": "blue"}, {"name": "SIZE", "value": "1"}]});
    let created = cluster
        .create(pod_with("a", "transfer-env", json!({}), env))
        .await;
    let env = container(&created, "side")["env"].clone();
    assert_eq!(values(&env, "name"), ["IS_INJECTED", "COLOR"]);
    assert_eq!(env[1]["value"], "blue");
}

#[kubewright_testing::test(nodes = 1)]
async fn resources_policy_computes_resources_from_those_of_the_pod(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, sample("rows/resources-policy")).await;
    let resources = json!({"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}});
    let pod = pod_with("a", "resources-policy", json!({}), resources);
    let created = cluster.create(pod).await;
    assert_eq!(
        container(&created, "side")["resources"],
        json!({"limits": {"cpu": "500m", "memory": "536870912"}, "requests": {"cpu": "10m",
            "memory": "536870912"}})
    );
}

#[kubewright_testing::test(nodes = 1)]
async fn resources_policy_max_takes_the_largest_amount(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, sample("rows/resources-policy-max")).await;
    let limited =
        |cpu: &str, memory: &str| json!({"resources": {"limits": {"cpu": cpu, "memory": memory}}});
    let mut pod = pod_with("a", "resources-policy-max", json!({}), limited("1", "64Mi"));
    let spec = pod.spec.get_or_insert_default();
    for (name, resources) in [("app2", limited("2", "32Mi")), ("db", limited("8", "1Gi"))] {
        let mut container = resources;
        container["name"] = name.into();
        container["image"] = crate::fixtures::IMAGE.into();
        spec.containers.push(from_json(container));
    }
    let created = cluster.create(pod).await;
    assert_eq!(
        container(&created, "side")["resources"]["limits"],
        json!({"cpu": "2", "memory": "67108864"})
    );
}

#[kubewright_testing::test(nodes = 1)]
async fn share_volume_device_policy_adds_the_devices_of_the_pod(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, sample("rows/share-volume-device-policy")).await;
    let devices = json!({"volumeDevices": [{"name": "disk", "devicePath": "/dev/disk"}]});
    let mut pod = pod_with(
        "a",
        "share-volume-device-policy",
        json!({}),
        devices.clone(),
    );
    let spec = pod.spec.get_or_insert_default();
    let claim = json!([{"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}]);
    spec.volumes = Some(from_json(claim));
    let created = cluster.create(pod).await;
    assert_eq!(
        container(&created, "side")["volumeDevices"],
        devices["volumeDevices"]
    );
}

#[kubewright_testing::test(nodes = 1)]
async fn transfer_env_source_is_named_by_a_label_of_the_pod(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, sample("rows/transfer-env-from")).await;
    let env = json!({"env": [{"name": "COLOR", "value": "blue"}, {"name": "OTHER", "value": "1"},
        {"name": "SIZE", "value": "7"}]});
    let labels = json!({"labels": {"main": "app"}});
    let created = cluster
        .create(pod_with("a", "transfer-env-from", labels, env))
        .await;
    let env = container(&created, "side")["env"].clone();
    assert_eq!(values(&env, "name"), ["IS_INJECTED", "COLOR", "SIZE"]);
    assert_eq!(
        (&env[1]["value"], &env[2]["value"]),
        (&json!("blue"), &json!("7"))
    );
}

/// What the API server adds to a sidecar is kept.
#[kubewright_testing::test(nodes = 1)]
async fn sidecar_gets_the_mount_of_the_service_account_token(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, set("token", json!({}))).await;
    let created = cluster.create(pod("a", "token")).await;
    let mounts = |name: &str| values(&container(&created, name)["volumeMounts"], "mountPath");
    assert_eq!(mounts("side"), mounts("app"));
}

#[kubewright_testing::test(nodes = 1)]
async fn canary_is_injected_instead_of_its_base(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, set("base", json!({}))).await;
    let selector = json!({"matchLabels": {"sample": "base", "try": "yes"}});
    let fields = json!({"selector": selector, "updateStrategy": {"type": "NotUpdate"},
        "containers": [{"name": "trial", "image": crate::fixtures::IMAGE}]});
    let mut canary = set("canary", fields);
    let labels = canary.labels_mut();
    labels.insert(
        "apps.kruise.io/sidecarset-canary".to_owned(),
        "true".to_owned(),
    );
    labels.insert(
        "apps.kruise.io/sidecarset-base".to_owned(),
        "base".to_owned(),
    );
    let created = cluster.create(canary).await;
    wait_until_observed(&cluster, &created).await;
    for (name, labels, expected) in [
        ("a", json!({"try": "yes"}), ["trial", "app"]),
        ("b", json!({}), ["side", "app"]),
    ] {
        let pod = pod_with(name, "base", json!({"labels": labels}), json!({}));
        cluster
            .eventually(format!("Pod {name} is injected"), async |c| {
                c.delete::<Pod>(name).await;
                if c.get::<Pod>(name).await.is_some() {
                    return false;
                }
                containers(&c.create(pod.clone()).await) == expected
            })
            .await;
    }
}

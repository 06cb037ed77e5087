use kubewright_cluster::node;
use serde_json::{Value, json};

use crate::world::World;

const PODS: &str = "/api/v1/namespaces/default/pods";
const HOST: &str = "kubernetes.io/hostname";

/// Creates a Pod of the app `web`.
async fn add(world: &World, name: &str, mut spec: Value) {
    spec["containers"] = json!([{"name": "app", "image": "a:1"}]);
    let metadata = json!({"name": name, "labels": {"app": "web"}});
    let pod = json!({"metadata": metadata, "spec": spec});
    world.admin.post(PODS, &pod).await.ok();
}

async fn place(world: &World, name: &str) -> String {
    let pod = world.pod(name).await;
    pod["spec"]["nodeName"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

async fn message(world: &World, name: &str) -> String {
    let pod = world.pod(name).await;
    let conditions = pod["status"]["conditions"].as_array().cloned();
    let mut conditions = conditions.unwrap_or_default().into_iter();
    let scheduled = conditions.find(|one| one["type"] == "PodScheduled");
    let message = scheduled.map(|one| one["message"].clone());
    message
        .and_then(|text| text.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn web() -> Value {
    json!({"matchLabels": {"app": "web"}})
}

#[tokio::test(start_paused = true)]
async fn pods_that_repel_each_other_get_a_node_each_and_the_third_waits_for_room() {
    let world = World::new();
    world.add_nodes(&["n1", "n2"]).await;
    let alone = json!({"affinity": {"podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution":
            [{"topologyKey": HOST, "labelSelector": web()}]}}});
    for name in ["a", "b", "c"] {
        add(&world, name, alone.clone()).await;
    }
    let wanted = "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules. no new \
         claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found \
         for incoming pod.";
    world
        .eventually("the third waits", async || {
            message(&world, "c").await == wanted
        })
        .await;
    let mut places = vec![place(&world, "a").await, place(&world, "b").await];
    places.sort();
    assert_eq!(places, ["n1", "n2"]);
    world.add_nodes(&["n3"]).await;
    world
        .eventually("the third goes to the new node", async || {
            place(&world, "c").await == "n3"
        })
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pod_waits_for_the_one_it_must_be_near_to() {
    let world = World::new();
    world.add_nodes(&["n1", "n2"]).await;
    let near = json!({"affinity": {"podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution":
            [{"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "db"}}}]}}});
    add(&world, "a", near).await;
    world
        .eventually("it waits", async || {
            let message = message(&world, "a").await;
            message.contains("2 node(s) didn't match pod affinity rules")
        })
        .await;
    let db = json!({"metadata": {"name": "db", "labels": {"app": "db"}},
        "spec": {"nodeName": "n2", "containers": [{"name": "app", "image": "a:1"}]}});
    world.admin.post(PODS, &db).await.ok();
    world
        .eventually("it follows", async || place(&world, "a").await == "n2")
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pods_are_spread_over_zones_however_many_nodes_those_have() {
    let world = World::new();
    for (name, zone) in [("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b")] {
        let mut node = node(name);
        node["metadata"]["labels"]["zone"] = zone.into();
        world.admin.post("/api/v1/nodes", &node).await.ok();
    }
    let spread = json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": web()}]});
    for n in 0..6 {
        add(&world, &format!("p{n}"), spread.clone()).await;
    }
    world
        .eventually("all have a node", async || {
            let pods = world.admin.list(PODS).await;
            pods.iter().all(|pod| pod["spec"]["nodeName"].is_string())
        })
        .await;
    let pods = world.admin.list(PODS).await;
    let in_b = pods.iter().filter(|pod| pod["spec"]["nodeName"] == "b1");
    assert_eq!(in_b.count(), 3);
    world.stop().await;
}

/// One quota for Pods that ask for nothing, one for those that do.
#[tokio::test(start_paused = true)]
async fn a_quota_with_scopes_counts_what_is_in_them() {
    let world = World::new();
    let quotas = "/api/v1/namespaces/default/resourcequotas";
    for (name, scope) in [("lazy", "BestEffort"), ("busy", "NotBestEffort")] {
        let quota = json!({"metadata": {"name": name},
            "spec": {"hard": {"pods": "1"}, "scopes": [scope]}});
        world.admin.post(quotas, &quota).await.ok();
    }
    let used = async |name: &str| {
        let quota = world.admin.get(&format!("{quotas}/{name}")).await.body;
        quota["status"]["used"]["pods"].clone()
    };
    world
        .eventually("both are counted", async || {
            used("lazy").await == "0" && used("busy").await == "0"
        })
        .await;
    world.add_pod("a", json!({})).await;
    assert_eq!(
        (used("lazy").await, used("busy").await),
        (json!("1"), json!("0"))
    );
    let second = json!({"metadata": {"name": "b"},
        "spec": {"containers": [{"name": "app", "image": "a:1"}]}});
    let refused = world.admin.post(PODS, &second).await;
    assert_eq!(
        refused.failure(),
        (
            403,
            "pods \"b\" is forbidden: exceeded quota: lazy, requested: pods=1, used: pods=1, \
             limited: pods=1"
        )
    );
    let mut busy = second;
    busy["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1m"}});
    world.admin.post(PODS, &busy).await.ok();
    assert_eq!(used("busy").await, "1");
    world
        .admin
        .delete(&format!("{PODS}/a?gracePeriodSeconds=0"))
        .await
        .ok();
    world
        .eventually("the place is free again", async || {
            used("lazy").await == "0"
        })
        .await;
    world.stop().await;
}

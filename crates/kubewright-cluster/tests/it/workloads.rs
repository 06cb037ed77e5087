use std::time::Duration;

use kubewright_cluster::{ControllerName, Controllers, PodSelector};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::world::World;

pub(crate) const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
const PODS: &str = "/api/v1/namespaces/default/pods";
const EVENTS: &str = "/api/v1/namespaces/default/events";

fn template(image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": image, "ports": [{"name": "http", "containerPort": 8080}]}]},
    })
}

fn deployment(replicas: u32, image: &str) -> Value {
    json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": template(image),
        },
    })
}

fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions
        .find(|one| one["type"] == kind)
        .unwrap_or(&Value::Null)
}

async fn web(world: &World) -> Value {
    world.admin.get(&format!("{DEPLOYMENTS}/web")).await.body
}

/// Whether the rollout of the last change is over, as `kubectl rollout status` sees it.
async fn is_rolled_out(world: &World) -> bool {
    let web = web(world).await;
    let status = &web["status"];
    let wanted = &web["spec"]["replicas"];
    status["observedGeneration"] == web["metadata"]["generation"]
        && ["replicas", "updatedReplicas", "availableReplicas"]
            .iter()
            .all(|field| status[field].as_u64().unwrap_or(0) == wanted.as_u64().unwrap_or(0))
        && condition(&web, "Progressing")["reason"] == "NewReplicaSetAvailable"
}

async fn rolled_out(world: &World) {
    world
        .eventually("the rollout is over", async || is_rolled_out(world).await)
        .await;
    world.settle().await;
}

/// A world with two nodes and the Deployment `web` rolled out.
pub(crate) async fn start(replicas: u32) -> World {
    let world = World::new();
    world.add_nodes(&["n1", "n2"]).await;
    world
        .admin
        .post(DEPLOYMENTS, &deployment(replicas, "a:1"))
        .await
        .ok();
    rolled_out(&world).await;
    world
}

fn images(pods: &[Value]) -> Vec<String> {
    let mut images: Vec<_> = pods
        .iter()
        .map(|pod| pod["spec"]["containers"][0]["image"].to_string())
        .collect();
    images.sort();
    images
}

async fn set_image(world: &World, image: &str) {
    let change = json!({"spec": {"template": template(image)}});
    world
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &change)
        .await
        .ok();
}

#[tokio::test(start_paused = true)]
async fn a_deployment_makes_a_set_that_makes_pods() {
    let world = start(3).await;
    let sets = world.admin.list(SETS).await;
    let [set] = sets.as_slice() else {
        unreachable!("one set: {sets:?}")
    };
    let hash = set["metadata"]["labels"]["pod-template-hash"]
        .as_str()
        .unwrap();
    assert_eq!(set["metadata"]["name"], format!("web-{hash}"));
    assert_eq!(
        set["spec"]["selector"]["matchLabels"]["pod-template-hash"],
        hash
    );
    assert_eq!(
        set["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "1"
    );
    assert_eq!(
        set["metadata"]["annotations"]["deployment.kubernetes.io/desired-replicas"],
        "3"
    );
    assert_eq!(set["status"]["availableReplicas"], 3);
    let pods = world.admin.list(PODS).await;
    assert_eq!(pods.len(), 3);
    let owner = &pods[0]["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["kind"], &owner["name"]),
        (&json!("ReplicaSet"), &set["metadata"]["name"])
    );
    assert_eq!(pods[0]["metadata"]["labels"]["pod-template-hash"], hash);
    let web = web(&world).await;
    assert_eq!(
        web["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "1"
    );
    let status: Vec<_> = web["status"]["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["type"].clone(), one["reason"].clone()))
        .collect();
    assert_eq!(
        status,
        [
            (json!("Available"), json!("MinimumReplicasAvailable")),
            (json!("Progressing"), json!("NewReplicaSetAvailable")),
        ]
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_new_image_rolls_out_without_ever_missing_a_pod() {
    let world = start(4).await;
    let mut changes = world
        .server
        .store()
        .watch_from(world.server.store().revision());
    set_image(&world, "a:2").await;
    rolled_out(&world).await;
    assert_eq!(images(&world.admin.list(PODS).await), vec!["\"a:2\""; 4]);
    let mut asked = std::collections::BTreeMap::new();
    for set in world.admin.list(SETS).await {
        let name = set["metadata"]["name"].as_str().unwrap().to_owned();
        // Before the rollout there was one with four Pods; which one shows when it shrinks.
        let size = if set["spec"]["replicas"] == 0 { 4 } else { 0 };
        asked.insert(name, size);
    }
    let (mut most, mut least) = (0, i64::MAX);
    while let Some(batch) = changes.now().ok().filter(|batch| !batch.is_empty()) {
        for change in &batch {
            let value = change.after.value();
            if change.key.resource() == "replicasets.apps" {
                let size = value["spec"]["replicas"].as_i64().unwrap_or(0);
                asked.insert(change.key.name().to_owned(), size);
                most = most.max(asked.values().sum());
            } else if change.key.resource() == "deployments.apps" {
                let available = &value["status"]["availableReplicas"];
                least = least.min(available.as_i64().unwrap_or(0));
            }
        }
    }
    // A quarter of four more, a quarter of four fewer.
    assert!(most <= 5 && least >= 3, "{most} {least}");
    let sets = world.admin.list(SETS).await;
    let mut sizes: Vec<_> = sets
        .iter()
        .map(|set| set["spec"]["replicas"].clone())
        .collect();
    sizes.sort_by_key(Value::to_string);
    assert_eq!(sizes, [json!(0), json!(4)]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_old_template_brings_its_set_back_with_a_new_revision() {
    let world = start(2).await;
    set_image(&world, "a:2").await;
    rolled_out(&world).await;
    set_image(&world, "a:1").await;
    rolled_out(&world).await;
    let sets = world.admin.list(SETS).await;
    assert_eq!(sets.len(), 2);
    let active = sets
        .iter()
        .find(|set| set["spec"]["replicas"] == 2)
        .unwrap();
    let noted = &active["metadata"]["annotations"];
    assert_eq!(noted["deployment.kubernetes.io/revision"], "3");
    assert_eq!(noted["deployment.kubernetes.io/revision-history"], "1");
    assert_eq!(images(&world.admin.list(PODS).await), vec!["\"a:1\""; 2]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn only_so_many_old_sets_are_kept() {
    let world = start(1).await;
    let limit = json!({"spec": {"revisionHistoryLimit": 1}});
    world
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &limit)
        .await
        .ok();
    for image in ["a:2", "a:3", "a:4"] {
        set_image(&world, image).await;
        rolled_out(&world).await;
    }
    let mut revisions: Vec<_> = world
        .admin
        .list(SETS)
        .await
        .iter()
        .map(|set| set["metadata"]["annotations"]["deployment.kubernetes.io/revision"].to_string())
        .collect();
    revisions.sort();
    assert_eq!(revisions, ["\"3\"", "\"4\""]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn scaling_adds_and_removes_pods() {
    let world = start(3).await;
    for replicas in [5, 1, 0] {
        let change = json!({"spec": {"replicas": replicas}});
        world
            .admin
            .patch(&format!("{DEPLOYMENTS}/web"), &change)
            .await
            .ok();
        rolled_out(&world).await;
        assert_eq!(world.admin.list(PODS).await.len(), replicas);
    }
    assert_eq!(web(&world).await["status"].get("replicas"), None);
    let reasons: Vec<_> = world
        .admin
        .list(EVENTS)
        .await
        .iter()
        .filter(|event| event["reason"] == "ScalingReplicaSet")
        .map(|event| event["message"].as_str().unwrap().to_owned())
        .collect();
    let name = world.admin.list(SETS).await[0]["metadata"]["name"].clone();
    let name = name.as_str().unwrap();
    for way in [
        "up replica set {} from 0 to 3",
        "up replica set {} from 3 to 5",
        "down replica set {} from 5 to 1",
    ] {
        let wanted = format!("Scaled {}", way.replace("{}", name));
        assert!(reasons.contains(&wanted), "{wanted}: {reasons:?}");
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn recreating_ends_all_old_pods_first() {
    let world = start(3).await;
    let change = json!({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}});
    world
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &change)
        .await
        .ok();
    rolled_out(&world).await;
    let old = PodSelector::all().in_namespace("default");
    world.cluster.pods().linger(old.clone());
    set_image(&world, "a:2").await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(images(&world.admin.list(PODS).await), vec!["\"a:1\""; 3]);
    world.cluster.pods().release(old);
    rolled_out(&world).await;
    assert_eq!(images(&world.admin.list(PODS).await), vec!["\"a:2\""; 3]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_is_stuck_says_so_after_its_deadline() {
    let world = start(2).await;
    let deadline = json!({"spec": {"progressDeadlineSeconds": 60}});
    world
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &deadline)
        .await
        .ok();
    world.cluster.pods().never_ready(PodSelector::all());
    world.settle().await;
    let begin = Instant::now();
    set_image(&world, "a:2").await;
    let is_stuck = async || {
        condition(&web(&world).await, "Progressing")["reason"] == "ProgressDeadlineExceeded"
    };
    world.eventually("it is stuck", is_stuck).await;
    assert!(
        begin.elapsed() >= Duration::from_secs(60),
        "{:?}",
        begin.elapsed()
    );
    world.cluster.pods().release_all();
    rolled_out(&world).await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_paused_deployment_waits_and_goes_on() {
    let world = start(2).await;
    let pause = |is_paused: bool| json!({"spec": {"paused": is_paused}});
    world
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &pause(true))
        .await
        .ok();
    set_image(&world, "a:2").await;
    world.settle().await;
    assert_eq!(images(&world.admin.list(PODS).await), vec!["\"a:1\""; 2]);
    assert_eq!(
        condition(&web(&world).await, "Progressing")["reason"],
        "DeploymentPaused"
    );
    world
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &pause(false))
        .await
        .ok();
    rolled_out(&world).await;
    assert_eq!(images(&world.admin.list(PODS).await), vec!["\"a:2\""; 2]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pods_have_to_be_ready_for_a_while_to_be_available() {
    let world = World::new();
    world.add_nodes(&["n1"]).await;
    let mut slow = deployment(2, "a:1");
    slow["spec"]["minReadySeconds"] = 20.into();
    let begin = Instant::now();
    world.admin.post(DEPLOYMENTS, &slow).await.ok();
    rolled_out(&world).await;
    assert!(
        begin.elapsed() >= Duration::from_secs(20),
        "{:?}",
        begin.elapsed()
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_lost_is_replaced_and_an_orphan_is_adopted() {
    let world = start(2).await;
    let name = world.admin.list(PODS).await[0]["metadata"]["name"].clone();
    let name = name.as_str().unwrap();
    world.admin.delete(&format!("{PODS}/{name}")).await.ok();
    world
        .eventually("another one", async || {
            let pods = world.admin.list(PODS).await;
            pods.len() == 2 && pods.iter().all(|pod| pod["metadata"]["name"] != name)
        })
        .await;
    rolled_out(&world).await;
    let pod = world.admin.list(PODS).await[0].clone();
    let own = format!("{PODS}/{}", pod["metadata"]["name"].as_str().unwrap());
    // A Pod that no longer matches is let go and replaced.
    let change = json!({"metadata": {"labels": {"app": "other"}}});
    world.admin.patch(&own, &change).await.ok();
    world
        .eventually("it is let go", async || {
            let pod = world.admin.get(&own).await.body;
            pod["metadata"].get("ownerReferences").is_none()
                && world.admin.list(PODS).await.len() == 3
        })
        .await;
    // It matches again: taken back, and one is too many.
    let change = json!({"metadata": {"labels": {"app": "web"}}});
    world.admin.patch(&own, &change).await.ok();
    world
        .eventually("two again", async || {
            world.admin.list(PODS).await.len() == 2
        })
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn deleting_a_deployment_deletes_everything_of_it() {
    let world = start(2).await;
    world.admin.delete(&format!("{DEPLOYMENTS}/web")).await.ok();
    world
        .eventually("all is gone", async || {
            world.admin.list(PODS).await.is_empty() && world.admin.list(SETS).await.is_empty()
        })
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_set_that_may_not_make_pods_says_why() {
    let world = World::with(
        Controllers::all().without(ControllerName::ServiceAccounts),
        1000,
    );
    let mut broken = deployment(1, "a:1");
    broken["spec"]["template"]["metadata"]["labels"]["bad"] = "no value at all!".into();
    let answer = world.admin.post(SETS, &broken).await;
    if answer.code != 201 {
        // What cannot be stored needs no failure.
        return;
    }
    world
        .eventually("it says why", async || {
            let set = world.admin.get(&format!("{SETS}/web")).await.body;
            condition(&set, "ReplicaFailure")["reason"] == "FailedCreate"
        })
        .await;
    world.stop().await;
}

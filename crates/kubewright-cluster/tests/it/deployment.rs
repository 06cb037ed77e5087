//! Deployments and their ReplicaSets.

use std::time::Duration;

use kubewright_cluster::{Controllers, PodSelector};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::test_cluster::{TestCluster, condition};

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

async fn web(cluster: &TestCluster) -> Value {
    cluster.admin.get(&format!("{DEPLOYMENTS}/web")).await.body
}

/// Whether the last rollout is complete, as `kubectl rollout status` decides it.
async fn is_rolled_out(cluster: &TestCluster) -> bool {
    let web = web(cluster).await;
    let status = &web["status"];
    let wanted = &web["spec"]["replicas"];
    status["observedGeneration"] == web["metadata"]["generation"]
        && ["replicas", "updatedReplicas", "availableReplicas"]
            .iter()
            .all(|field| status[field].as_u64().unwrap_or(0) == wanted.as_u64().unwrap_or(0))
        && condition(&web, "Progressing")["reason"] == "NewReplicaSetAvailable"
}

async fn rolled_out(cluster: &TestCluster) {
    cluster
        .eventually("the rollout is complete", async || {
            is_rolled_out(cluster).await
        })
        .await;
    cluster.settle().await;
}

/// A cluster with two nodes and the Deployment `web` rolled out.
pub(crate) async fn start(replicas: u32) -> TestCluster {
    let cluster = TestCluster::new();
    cluster.add_nodes(&["n1", "n2"]).await;
    cluster
        .admin
        .post(DEPLOYMENTS, &deployment(replicas, "a:1"))
        .await
        .ok();
    rolled_out(&cluster).await;
    cluster
}

fn images(pods: &[Value]) -> Vec<String> {
    let mut images: Vec<_> = pods
        .iter()
        .map(|pod| pod["spec"]["containers"][0]["image"].to_string())
        .collect();
    images.sort();
    images
}

async fn set_image(cluster: &TestCluster, image: &str) {
    let change = json!({"spec": {"template": template(image)}});
    cluster
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &change)
        .await
        .ok();
}

#[tokio::test(start_paused = true)]
async fn deployment_creates_a_replica_set_that_creates_pods() {
    let cluster = start(3).await;
    let sets = cluster.admin.list(SETS).await;
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
    let pods = cluster.admin.list(PODS).await;
    assert_eq!(pods.len(), 3);
    let owner = &pods[0]["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["kind"], &owner["name"]),
        (&json!("ReplicaSet"), &set["metadata"]["name"])
    );
    assert_eq!(pods[0]["metadata"]["labels"]["pod-template-hash"], hash);
    let web = web(&cluster).await;
    assert_eq!(
        web["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "1"
    );
    let status: Vec<_> = web["status"]["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|condition| (condition["type"].clone(), condition["reason"].clone()))
        .collect();
    assert_eq!(
        status,
        [
            (json!("Available"), json!("MinimumReplicasAvailable")),
            (json!("Progressing"), json!("NewReplicaSetAvailable")),
        ]
    );
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn rolling_update_stays_within_max_surge_and_max_unavailable() {
    let cluster = start(4).await;
    let mut changes = cluster
        .server
        .store()
        .watch_from(cluster.server.store().revision());
    set_image(&cluster, "a:2").await;
    rolled_out(&cluster).await;
    assert_eq!(images(&cluster.admin.list(PODS).await), vec!["\"a:2\""; 4]);
    let mut sizes = std::collections::BTreeMap::new();
    for set in cluster.admin.list(SETS).await {
        let name = set["metadata"]["name"].as_str().unwrap().to_owned();
        // Before the rollout the old set had four Pods. It has none now.
        let size = if set["spec"]["replicas"] == 0 { 4 } else { 0 };
        sizes.insert(name, size);
    }
    let (mut most, mut least) = (0, i64::MAX);
    while let Some(batch) = changes.now().ok().filter(|batch| !batch.is_empty()) {
        for change in &batch {
            let value = change.after.value();
            if change.key.resource() == "replicasets.apps" {
                let size = value["spec"]["replicas"].as_i64().unwrap_or(0);
                sizes.insert(change.key.name().to_owned(), size);
                most = most.max(sizes.values().sum());
            } else if change.key.resource() == "deployments.apps" {
                let available = &value["status"]["availableReplicas"];
                least = least.min(available.as_i64().unwrap_or(0));
            }
        }
    }
    // 25% of four Pods more, and 25% fewer.
    assert!(most <= 5 && least >= 3, "{most} {least}");
    let sets = cluster.admin.list(SETS).await;
    let mut final_sizes: Vec<_> = sets
        .iter()
        .map(|set| set["spec"]["replicas"].clone())
        .collect();
    final_sizes.sort_by_key(Value::to_string);
    assert_eq!(final_sizes, [json!(0), json!(4)]);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn rollback_reuses_the_old_set_with_a_new_revision() {
    let cluster = start(2).await;
    set_image(&cluster, "a:2").await;
    rolled_out(&cluster).await;
    set_image(&cluster, "a:1").await;
    rolled_out(&cluster).await;
    let sets = cluster.admin.list(SETS).await;
    assert_eq!(sets.len(), 2);
    let active = sets
        .iter()
        .find(|set| set["spec"]["replicas"] == 2)
        .unwrap();
    let annotations = &active["metadata"]["annotations"];
    assert_eq!(annotations["deployment.kubernetes.io/revision"], "3");
    assert_eq!(
        annotations["deployment.kubernetes.io/revision-history"],
        "1"
    );
    assert_eq!(images(&cluster.admin.list(PODS).await), vec!["\"a:1\""; 2]);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn old_sets_beyond_the_history_limit_are_deleted() {
    let cluster = start(1).await;
    let limit = json!({"spec": {"revisionHistoryLimit": 1}});
    cluster
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &limit)
        .await
        .ok();
    for image in ["a:2", "a:3", "a:4"] {
        set_image(&cluster, image).await;
        rolled_out(&cluster).await;
    }
    let mut revisions: Vec<_> = cluster
        .admin
        .list(SETS)
        .await
        .iter()
        .map(|set| set["metadata"]["annotations"]["deployment.kubernetes.io/revision"].to_string())
        .collect();
    revisions.sort();
    assert_eq!(revisions, ["\"3\"", "\"4\""]);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn scaling_adds_and_removes_pods() {
    let cluster = start(3).await;
    for replicas in [5, 1, 0] {
        let change = json!({"spec": {"replicas": replicas}});
        cluster
            .admin
            .patch(&format!("{DEPLOYMENTS}/web"), &change)
            .await
            .ok();
        rolled_out(&cluster).await;
        assert_eq!(cluster.admin.list(PODS).await.len(), replicas);
    }
    assert_eq!(web(&cluster).await["status"].get("replicas"), None);
    let reasons: Vec<_> = cluster
        .admin
        .list(EVENTS)
        .await
        .iter()
        .filter(|event| event["reason"] == "ScalingReplicaSet")
        .map(|event| event["message"].as_str().unwrap().to_owned())
        .collect();
    let set = cluster.admin.list(SETS).await[0].clone();
    let name = set["metadata"]["name"].as_str().unwrap();
    for change in [
        "up replica set {} from 0 to 3",
        "up replica set {} from 3 to 5",
        "down replica set {} from 5 to 1",
    ] {
        let wanted = format!("Scaled {}", change.replace("{}", name));
        assert!(reasons.contains(&wanted), "{wanted}: {reasons:?}");
    }
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn recreate_ends_all_old_pods_first() {
    let cluster = start(3).await;
    let change = json!({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}});
    cluster
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &change)
        .await
        .ok();
    rolled_out(&cluster).await;
    let old = PodSelector::all().in_namespace("default");
    cluster.cluster.pods().ignore_termination(old.clone());
    set_image(&cluster, "a:2").await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(images(&cluster.admin.list(PODS).await), vec!["\"a:1\""; 3]);
    cluster.cluster.pods().release(old);
    rolled_out(&cluster).await;
    assert_eq!(images(&cluster.admin.list(PODS).await), vec!["\"a:2\""; 3]);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn rollout_without_progress_times_out_after_its_deadline() {
    let cluster = start(2).await;
    let deadline = json!({"spec": {"progressDeadlineSeconds": 60}});
    cluster
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &deadline)
        .await
        .ok();
    cluster.cluster.pods().never_ready(PodSelector::all());
    cluster.settle().await;
    let start = Instant::now();
    set_image(&cluster, "a:2").await;
    let is_timed_out = async || {
        condition(&web(&cluster).await, "Progressing")["reason"] == "ProgressDeadlineExceeded"
    };
    cluster
        .eventually("the rollout times out", is_timed_out)
        .await;
    assert!(
        start.elapsed() >= Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
    cluster.cluster.pods().release_all();
    rolled_out(&cluster).await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn paused_deployment_rolls_out_after_it_is_resumed() {
    let cluster = start(2).await;
    let pause = |is_paused: bool| json!({"spec": {"paused": is_paused}});
    cluster
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &pause(true))
        .await
        .ok();
    set_image(&cluster, "a:2").await;
    cluster.settle().await;
    assert_eq!(images(&cluster.admin.list(PODS).await), vec!["\"a:1\""; 2]);
    assert_eq!(
        condition(&web(&cluster).await, "Progressing")["reason"],
        "DeploymentPaused"
    );
    cluster
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &pause(false))
        .await
        .ok();
    rolled_out(&cluster).await;
    assert_eq!(images(&cluster.admin.list(PODS).await), vec!["\"a:2\""; 2]);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pods_are_available_after_min_ready_seconds() {
    let cluster = TestCluster::new();
    cluster.add_nodes(&["n1"]).await;
    let mut slow = deployment(2, "a:1");
    slow["spec"]["minReadySeconds"] = 20.into();
    let start = Instant::now();
    cluster.admin.post(DEPLOYMENTS, &slow).await.ok();
    rolled_out(&cluster).await;
    assert!(
        start.elapsed() >= Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn deleted_pod_is_replaced_and_matching_orphan_is_adopted() {
    let cluster = start(2).await;
    let lost = cluster.admin.list(PODS).await[0].clone();
    let name = lost["metadata"]["name"].as_str().unwrap();
    cluster.admin.delete(&format!("{PODS}/{name}")).await.ok();
    cluster
        .eventually("another pod is created", async || {
            let pods = cluster.admin.list(PODS).await;
            pods.len() == 2 && pods.iter().all(|pod| pod["metadata"]["name"] != name)
        })
        .await;
    rolled_out(&cluster).await;
    let pod = cluster.admin.list(PODS).await[0].clone();
    let own = format!("{PODS}/{}", pod["metadata"]["name"].as_str().unwrap());
    // A Pod that no longer matches is released and replaced.
    let change = json!({"metadata": {"labels": {"app": "other"}}});
    cluster.admin.patch(&own, &change).await.ok();
    cluster
        .eventually("the pod is released", async || {
            let pod = cluster.admin.get(&own).await.body;
            pod["metadata"].get("ownerReferences").is_none()
                && cluster.admin.list(PODS).await.len() == 3
        })
        .await;
    // It matches again: it is adopted, and the surplus Pod is deleted.
    let change = json!({"metadata": {"labels": {"app": "web"}}});
    cluster.admin.patch(&own, &change).await.ok();
    cluster
        .eventually("two pods are left", async || {
            cluster.admin.list(PODS).await.len() == 2
        })
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn deleting_a_deployment_deletes_its_sets_and_pods() {
    let cluster = start(2).await;
    cluster
        .admin
        .delete(&format!("{DEPLOYMENTS}/web"))
        .await
        .ok();
    cluster
        .eventually("sets and pods are deleted", async || {
            cluster.admin.list(PODS).await.is_empty() && cluster.admin.list(SETS).await.is_empty()
        })
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn replica_set_reports_why_its_pods_cannot_be_created() {
    let without_accounts = Controllers::all().without("serviceaccount-controller".parse().unwrap());
    let cluster = TestCluster::with(without_accounts, 1000);
    let mut broken = deployment(1, "a:1");
    broken["spec"]["template"]["metadata"]["labels"]["bad"] = "no value at all!".into();
    let response = cluster.admin.post(SETS, &broken).await;
    if response.code != 201 {
        // A set that is not stored has no Pods to fail.
        return;
    }
    cluster
        .eventually("the failure is reported", async || {
            let set = cluster.admin.get(&format!("{SETS}/web")).await.body;
            condition(&set, "ReplicaFailure")["reason"] == "FailedCreate"
        })
        .await;
    cluster.stop().await;
}

//! The garbage collector, the namespace controller, and what every namespace has.

use serde_json::{Value, json};

use crate::test_cluster::TestCluster;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Creates a ConfigMap with owners.
async fn add_map(cluster: &TestCluster, name: &str, owners: &[&Value]) -> Value {
    let owners: Vec<_> = owners
        .iter()
        .map(|owner| {
            json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"],
                "blockOwnerDeletion": true,
            })
        })
        .collect();
    let map = json!({"metadata": {"name": name, "ownerReferences": owners}});
    cluster.admin.post(MAPS, &map).await.ok()
}

async fn names(cluster: &TestCluster) -> Vec<String> {
    let maps = cluster.admin.list(MAPS).await;
    let names = maps.iter().map(|map| {
        map["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    });
    names.filter(|name| name != "kube-root-ca.crt").collect()
}

#[tokio::test(start_paused = true)]
async fn objects_without_owners_are_deleted_with_their_dependents() {
    let cluster = TestCluster::new();
    let one = add_map(&cluster, "one", &[]).await;
    let two = add_map(&cluster, "two", &[]).await;
    let child = add_map(&cluster, "child", &[&one]).await;
    add_map(&cluster, "grandchild", &[&child]).await;
    add_map(&cluster, "shared", &[&one, &two]).await;
    cluster.settle().await;
    cluster.admin.delete(&format!("{MAPS}/one")).await.ok();
    cluster
        .eventually("two are left", async || {
            names(&cluster).await == ["shared", "two"]
        })
        .await;
    let owners = async || {
        let shared = cluster.admin.get(&format!("{MAPS}/shared")).await.ok();
        let references = shared["metadata"]["ownerReferences"].as_array();
        references.map(Vec::len)
    };
    cluster
        .eventually("the reference is removed", async || {
            owners().await == Some(1)
        })
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn owner_reference_with_another_uid_does_not_count() {
    let cluster = TestCluster::new();
    let mut other = add_map(&cluster, "owner", &[]).await;
    other["metadata"]["uid"] = "00000000-0000-4000-8000-000000000000".into();
    add_map(&cluster, "orphan", &[&other]).await;
    cluster
        .eventually("the orphan is deleted", async || {
            names(&cluster).await == ["owner"]
        })
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn object_with_an_owner_of_an_unknown_kind_is_not_deleted() {
    let cluster = TestCluster::new();
    let owner = json!({"apiVersion": "ex.io/v1", "kind": "Later", "name": "l", "uid": "u"});
    let map = json!({"metadata": {"name": "early", "ownerReferences": [owner]}});
    cluster.admin.post(MAPS, &map).await.ok();
    cluster.settle().await;
    assert_eq!(names(&cluster).await, ["early"]);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn foreground_deletion_deletes_the_owner_last() {
    let cluster = TestCluster::new();
    let owner = add_map(&cluster, "owner", &[]).await;
    let child = add_map(&cluster, "child", &[&owner]).await;
    add_map(&cluster, "grandchild", &[&child]).await;
    let hold = json!({"metadata": {"finalizers": ["ex.io/hold"]}});
    cluster
        .admin
        .patch(&format!("{MAPS}/grandchild"), &hold)
        .await
        .ok();
    cluster.settle().await;
    let deleted = cluster
        .admin
        .delete(&format!("{MAPS}/owner?propagationPolicy=Foreground"))
        .await;
    assert_eq!(
        deleted.ok()["metadata"]["finalizers"],
        json!(["foregroundDeletion"])
    );
    cluster.settle().await;
    assert_eq!(names(&cluster).await, ["child", "grandchild", "owner"]);
    let release = json!({"metadata": {"finalizers": null}});
    cluster
        .admin
        .patch(&format!("{MAPS}/grandchild"), &release)
        .await
        .ok();
    cluster
        .eventually("all are deleted", async || names(&cluster).await.is_empty())
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn orphaned_dependents_stay_without_owner_references() {
    let cluster = TestCluster::new();
    let owner = add_map(&cluster, "owner", &[]).await;
    add_map(&cluster, "child", &[&owner]).await;
    cluster.settle().await;
    cluster
        .admin
        .delete(&format!("{MAPS}/owner?propagationPolicy=Orphan"))
        .await
        .ok();
    cluster
        .eventually("the owner is deleted", async || {
            names(&cluster).await == ["child"]
        })
        .await;
    cluster.settle().await;
    let child = cluster.admin.get(&format!("{MAPS}/child")).await.ok();
    assert_eq!(child["metadata"]["ownerReferences"], Value::Null);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn default_account_and_root_certificate_of_a_namespace_are_recreated() {
    let cluster = TestCluster::new();
    let new = json!({"metadata": {"name": "x"}});
    cluster.admin.post("/api/v1/namespaces", &new).await.ok();
    let account = "/api/v1/namespaces/x/serviceaccounts/default";
    let certificate = "/api/v1/namespaces/x/configmaps/kube-root-ca.crt";
    for path in [account, certificate] {
        cluster
            .eventually(path, async || cluster.admin.get(path).await.code == 200)
            .await;
        let first = cluster.admin.get(path).await.ok();
        cluster.admin.delete(path).await.ok();
        let is_recreated = async || {
            let again = cluster.admin.get(path).await;
            again.code == 200 && again.body["metadata"]["uid"] != first["metadata"]["uid"]
        };
        cluster.eventually(path, is_recreated).await;
    }
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn deleted_namespace_is_removed_after_its_content() {
    let cluster = TestCluster::new();
    cluster.add_nodes(&["n1"]).await;
    cluster
        .admin
        .post("/api/v1/namespaces", &json!({"metadata": {"name": "x"}}))
        .await
        .ok();
    let map = json!({"metadata": {"name": "held", "finalizers": ["ex.io/hold"]}});
    cluster
        .admin
        .post("/api/v1/namespaces/x/configmaps", &map)
        .await
        .ok();
    let pod =
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "a"}]}});
    cluster
        .admin
        .post("/api/v1/namespaces/x/pods", &pod)
        .await
        .ok();
    let pods = async || cluster.admin.list("/api/v1/namespaces/x/pods").await;
    cluster
        .eventually("the pod runs", async || {
            pods().await[0]["status"]["phase"] == "Running"
        })
        .await;
    cluster.admin.delete("/api/v1/namespaces/x").await.ok();
    let is_reported = async || {
        let namespace = cluster.admin.get("/api/v1/namespaces/x").await.ok();
        let conditions = namespace["status"]["conditions"].to_string();
        conditions.contains("finalizers remaining: ex.io/hold in 1 resource instances")
    };
    cluster
        .eventually("the finalizer is reported", is_reported)
        .await;
    assert!(pods().await.is_empty());
    let late = cluster
        .admin
        .post(
            "/api/v1/namespaces/x/configmaps",
            &json!({"metadata": {"name": "l"}}),
        )
        .await;
    assert_eq!(late.code, 403);
    let release = json!({"metadata": {"finalizers": null}});
    cluster
        .admin
        .patch("/api/v1/namespaces/x/configmaps/held", &release)
        .await
        .ok();
    let is_deleted = async || cluster.admin.get("/api/v1/namespaces/x").await.code == 404;
    cluster
        .eventually("the namespace is deleted", is_deleted)
        .await;
    cluster.stop().await;
}

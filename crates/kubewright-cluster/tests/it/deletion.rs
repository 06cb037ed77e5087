#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use serde_json::{Value, json};

use crate::world::World;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A ConfigMap owned by others.
async fn add_map(world: &World, name: &str, owners: &[&Value]) -> Value {
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
    world.admin.post(MAPS, &map).await.ok()
}

async fn names(world: &World) -> Vec<String> {
    let maps = world.admin.list(MAPS).await;
    let names = maps
        .iter()
        .map(|map| map["metadata"]["name"].as_str().unwrap().to_owned());
    names.filter(|name| name != "kube-root-ca.crt").collect()
}

#[tokio::test(start_paused = true)]
async fn what_loses_its_last_owner_is_deleted_down_to_the_leaves() {
    let world = World::new();
    let one = add_map(&world, "one", &[]).await;
    let two = add_map(&world, "two", &[]).await;
    let child = add_map(&world, "child", &[&one]).await;
    add_map(&world, "grandchild", &[&child]).await;
    add_map(&world, "shared", &[&one, &two]).await;
    world.settle().await;
    world.admin.delete(&format!("{MAPS}/one")).await.ok();
    world
        .eventually("two are left", async || {
            names(&world).await == ["shared", "two"]
        })
        .await;
    let owners = async || {
        let shared = world.admin.get(&format!("{MAPS}/shared")).await.ok();
        shared["metadata"]["ownerReferences"]
            .as_array()
            .unwrap()
            .len()
    };
    world
        .eventually("the reference is gone", async || owners().await == 1)
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_never_was_or_has_another_uid_is_no_owner() {
    let world = World::new();
    let mut stranger = add_map(&world, "owner", &[]).await;
    stranger["metadata"]["uid"] = "00000000-0000-4000-8000-000000000000".into();
    add_map(&world, "orphan", &[&stranger]).await;
    world
        .eventually("it is gone", async || names(&world).await == ["owner"])
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_owner_of_an_unknown_kind_is_waited_for() {
    let world = World::new();
    let owner = json!({"apiVersion": "ex.io/v1", "kind": "Later", "name": "l", "uid": "u"});
    let map = json!({"metadata": {"name": "early", "ownerReferences": [owner]}});
    world.admin.post(MAPS, &map).await.ok();
    world.settle().await;
    assert_eq!(names(&world).await, ["early"]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn in_the_foreground_the_owner_goes_last() {
    let world = World::new();
    let owner = add_map(&world, "owner", &[]).await;
    let child = add_map(&world, "child", &[&owner]).await;
    add_map(&world, "grandchild", &[&child]).await;
    let hold = json!({"metadata": {"finalizers": ["ex.io/hold"]}});
    world
        .admin
        .patch(&format!("{MAPS}/grandchild"), &hold)
        .await
        .ok();
    world.settle().await;
    let deleted = world
        .admin
        .delete(&format!("{MAPS}/owner?propagationPolicy=Foreground"))
        .await;
    assert_eq!(
        deleted.ok()["metadata"]["finalizers"],
        json!(["foregroundDeletion"])
    );
    world.settle().await;
    assert_eq!(names(&world).await, ["child", "grandchild", "owner"]);
    let release = json!({"metadata": {"finalizers": null}});
    world
        .admin
        .patch(&format!("{MAPS}/grandchild"), &release)
        .await
        .ok();
    world
        .eventually("all are gone", async || names(&world).await.is_empty())
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn orphans_stay_and_forget_their_owner() {
    let world = World::new();
    let owner = add_map(&world, "owner", &[]).await;
    add_map(&world, "child", &[&owner]).await;
    world.settle().await;
    world
        .admin
        .delete(&format!("{MAPS}/owner?propagationPolicy=Orphan"))
        .await
        .ok();
    world
        .eventually("the owner is gone", async || {
            names(&world).await == ["child"]
        })
        .await;
    world.settle().await;
    let child = world.admin.get(&format!("{MAPS}/child")).await.ok();
    assert_eq!(child["metadata"]["ownerReferences"], Value::Null);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn every_namespace_has_its_account_and_certificate_and_gets_them_back() {
    let world = World::new();
    let new = json!({"metadata": {"name": "x"}});
    world.admin.post("/api/v1/namespaces", &new).await.ok();
    let account = "/api/v1/namespaces/x/serviceaccounts/default";
    let certificate = "/api/v1/namespaces/x/configmaps/kube-root-ca.crt";
    for path in [account, certificate] {
        world
            .eventually(path, async || world.admin.get(path).await.code == 200)
            .await;
        let first = world.admin.get(path).await.ok();
        world.admin.delete(path).await.ok();
        let is_back = async || {
            let again = world.admin.get(path).await;
            again.code == 200 && again.body["metadata"]["uid"] != first["metadata"]["uid"]
        };
        world.eventually(path, is_back).await;
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_namespace_goes_with_all_it_holds() {
    let world = World::new();
    world.add_nodes(&["n1"]).await;
    world
        .admin
        .post("/api/v1/namespaces", &json!({"metadata": {"name": "x"}}))
        .await
        .ok();
    let map = json!({"metadata": {"name": "held", "finalizers": ["ex.io/hold"]}});
    world
        .admin
        .post("/api/v1/namespaces/x/configmaps", &map)
        .await
        .ok();
    let pod =
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "a"}]}});
    world
        .admin
        .post("/api/v1/namespaces/x/pods", &pod)
        .await
        .ok();
    let pods = async || world.admin.list("/api/v1/namespaces/x/pods").await;
    world
        .eventually("the pod runs", async || {
            pods().await[0]["status"]["phase"] == "Running"
        })
        .await;
    world.admin.delete("/api/v1/namespaces/x").await.ok();
    let told = async || {
        let namespace = world.admin.get("/api/v1/namespaces/x").await.ok();
        let conditions = namespace["status"]["conditions"].to_string();
        conditions.contains("finalizers remaining: ex.io/hold in 1 resource instances")
    };
    world.eventually("what keeps it is told", told).await;
    assert!(pods().await.is_empty());
    let late = world
        .admin
        .post(
            "/api/v1/namespaces/x/configmaps",
            &json!({"metadata": {"name": "l"}}),
        )
        .await;
    assert_eq!(late.code, 403);
    let release = json!({"metadata": {"finalizers": null}});
    world
        .admin
        .patch("/api/v1/namespaces/x/configmaps/held", &release)
        .await
        .ok();
    let is_gone = async || world.admin.get("/api/v1/namespaces/x").await.code == 404;
    world.eventually("it is gone", is_gone).await;
    world.stop().await;
}

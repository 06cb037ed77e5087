//! Examples of the parts that work without an operator.

use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::example_code::{
    configuration, deltas, discovery, leader, reflector, rest_client, scheme, shared_informer,
    subresources, typed_client,
};

fn config_map(name: &str, key: &str, value: &str) -> ConfigMap {
    let map = json!({"metadata": {"name": name, "labels": {key: value}}});
    serde_json::from_value(map).expect("a ConfigMap")
}

#[kubewright_testing::test]
async fn requests_by_path_return_bytes_values_streams_and_statuses(cluster: Cluster) {
    let responses = rest_client::send_requests(cluster.client(), cluster.namespace())
        .await
        .expect("responses");
    assert!(responses.bytes > 100);
    assert_eq!(responses.typed, "hello");
    assert_eq!(responses.events, ["\"ADDED\" letter"]);
    assert_eq!(responses.missing, "404 NotFound");
}

#[kubewright_testing::test]
async fn built_in_kind_is_read_and_written_by_its_type(cluster: Cluster) {
    let results = typed_client::work(cluster.client(), cluster.namespace()).await;
    assert_eq!(
        results.expect("all requests succeed"),
        [
            "created a",
            "patched apply,json,merge,strategic,text",
            "listed 1",
            "watched b",
            "remaining 0",
            "scaled 0 to 1",
        ]
    );
}

#[kubewright_testing::test]
async fn kind_is_found_by_its_short_name_and_cached_on_disk(cluster: Cluster) {
    let cache = std::env::temp_dir().join(format!("kubewright-{}", cluster.namespace()));
    let find = async |name: &str| {
        let found = discovery::find(cluster.client(), &cache, name).await;
        found.expect("a response")
    };
    let found = find("cm").await.expect("a kind");
    assert_eq!(found.resource, "configmaps");
    assert!(found.version.starts_with("v1."), "{}", found.version);
    assert!(
        found.all.contains(&"deployments.apps".to_owned()),
        "{:?}",
        found.all
    );
    assert!(
        found.names.contains(&"example".to_owned()),
        "{:?}",
        found.names
    );
    assert!(found.schemas > 100, "{}", found.schemas);
    let file = cache.join("cluster.example_6443/v1/serverresources.json");
    let cached = std::fs::read_to_string(file).expect("kubectl's file");
    assert!(cached.contains("\"configmaps\""), "{cached}");
    assert!(find("nothing").await.is_none());
    std::fs::remove_dir_all(cache).expect("no more files");
}

#[kubewright_testing::test]
async fn kind_that_is_added_later_is_found(cluster: Cluster) {
    use kubewright_runtime::discovery::Discovery;
    let discovery = Discovery::new(cluster.client());
    assert!(discovery.find("lamps").await.expect("a response").is_none());
    cluster.run(crate::example_code::manager::operator).await;
    let found = discovery.find("lamps.examples.kubewright.dev").await;
    let found = found.expect("a response").expect("a kind");
    assert_eq!(found.subresources, ["status"]);
}

#[kubewright_testing::test]
async fn reflector_returns_ordered_deltas(cluster: Cluster) {
    cluster.apply(config_map("a", "watched", "yes")).await;
    let (sender, mut lines) = mpsc::channel(64);
    let stop = CancellationToken::new();
    let follow = reflector::follow(cluster.client(), cluster.namespace(), sender, stop.clone());
    let namespace = cluster.namespace().to_owned();
    let check = async {
        assert_eq!(lines.recv().await, Some(format!("replaced {namespace}/a")));
        cluster.apply(config_map("b", "watched", "yes")).await;
        assert_eq!(lines.recv().await, Some(format!("applied {namespace}/b")));
        cluster.delete::<ConfigMap>("a").await;
        assert_eq!(lines.recv().await, Some(format!("deleted {namespace}/a")));
        stop.cancel();
    };
    let (result, ()) = tokio::join!(follow, check);
    result.expect("a selector");
}

#[kubewright_testing::test]
async fn one_watch_serves_all_subscriptions_and_an_index(cluster: Cluster) {
    for (name, color) in [("a", "red"), ("b", "blue"), ("c", "red")] {
        cluster.apply(config_map(name, "color", color)).await;
    }
    let received = shared_informer::subscribe(cluster.client(), cluster.namespace())
        .await
        .expect("events");
    assert_eq!(received.first, ["a", "b", "c"]);
    assert_eq!(received.late, received.first);
    assert_eq!(received.replayed, 3);
    assert_eq!(received.red, ["a", "c"]);
    assert!(received.is_shared);
}

#[kubewright_testing::test]
async fn deltas_have_the_object_before_and_after_in_order(cluster: Cluster) {
    let map = |name: &str, text: &str| {
        let mut map = config_map(name, "watched", "yes");
        map.data = Some([("text".to_owned(), text.to_owned())].into());
        map
    };
    cluster.apply(map("a", "one")).await;
    let (sender, mut lines) = mpsc::channel(64);
    let follow = deltas::follow(cluster.client(), cluster.namespace(), sender);
    let check = async {
        let mut next = async || lines.recv().await.unwrap_or_default();
        assert_eq!(next().await, "existing a: one");
        assert_eq!(next().await, "synced");
        cluster.apply(map("b", "two")).await;
        assert_eq!(next().await, "added b: two");
        cluster.apply(map("a", "three")).await;
        assert_eq!(next().await, "updated a: one to three");
        cluster.delete::<ConfigMap>("a").await;
        assert_eq!(next().await, "deleted a: three");
        drop(lines);
        // The receiver is dropped, so the next change ends the example.
        cluster.delete::<ConfigMap>("b").await;
    };
    let (result, ()) = tokio::join!(follow, check);
    result.expect("a selector");
}

#[kubewright_testing::test]
async fn status_eviction_and_token_are_subresources(cluster: Cluster) {
    let results = subresources::work(cluster.client(), cluster.namespace()).await;
    assert_eq!(
        results.expect("all requests succeed"),
        ["status unpacking", "evicted true", "a token of 3 parts"]
    );
}

#[test]
fn scheme_decodes_kinds_in_several_versions() {
    let scaler = |version: &str| {
        let target = json!({"kind": "Deployment", "name": "web"});
        json!({"apiVersion": version, "kind": "HorizontalPodAutoscaler", "metadata": {},
            "spec": {"scaleTargetRef": target, "maxReplicas": 3}})
    };
    let sorted = scheme::sort(vec![
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "letter"}}),
        scaler("autoscaling/v1"),
        scaler("autoscaling/v2"),
    ]);
    let expected = [
        "map letter",
        "v1 autoscaler",
        "v2 autoscaler with 0 metrics",
    ];
    assert_eq!(sorted.expect("known kinds"), expected);
    let unknown = json!({"apiVersion": "v1", "kind": "Pod"});
    assert!(scheme::sort(vec![unknown]).is_err());
    let versions = scheme::versions().map(|kind| kind.map(|kind| kind.api_version()));
    let expected = ["autoscaling/v1", "autoscaling/v2"].map(|version| Some(version.to_owned()));
    assert_eq!(versions, expected);
}

#[kubewright_testing::test]
async fn second_candidate_leads_when_the_first_releases_the_lease(cluster: Cluster) {
    let (sender, mut lines) = mpsc::channel(64);
    let (stop_first, stop_second) = (CancellationToken::new(), CancellationToken::new());
    let connection = || leader::Connection {
        client: cluster.client(),
        clock: cluster.clock(),
    };
    let first = leader::run_candidate(connection(), "one", sender.clone(), stop_first.clone());
    let second = async {
        assert_eq!(lines.recv().await.as_deref(), Some("one leads"));
        let second = leader::run_candidate(connection(), "two", sender, stop_second.clone());
        let hand_over = async {
            stop_first.cancel();
            while lines.recv().await.as_deref() != Some("two leads") {}
            stop_second.cancel();
        };
        tokio::join!(second, hand_over).0
    };
    let (first, second) = tokio::join!(first, second);
    first.expect("valid times");
    second.expect("valid times");
}

/// Two kubeconfigs: the first has the contexts, the second their clusters and users.
#[tokio::test]
async fn kubeconfigs_are_merged_and_a_context_is_chosen() {
    let folder = std::env::temp_dir().join(format!("kubewright-merged-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let contexts = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "home",
        "contexts": [
            {"name": "home", "context": {"cluster": "here", "user": "me", "namespace": "shop"}},
            {"name": "away", "context": {"cluster": "there", "user": "plugin"}},
        ],
    });
    let plugin = json!({"apiVersion": "client.authentication.k8s.io/v1", "command": "sesame",
        "interactiveMode": "Never"});
    let named = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "away",
        "clusters": [
            {"name": "here", "cluster": {"server": "http://127.0.0.1:1"}},
            {"name": "there", "cluster": {"server": "http://127.0.0.1:2"}},
        ],
        "users": [
            {"name": "me", "user": {"token": "t"}},
            {"name": "plugin", "user": {"exec": plugin}},
        ],
    });
    let files = [("contexts", contexts), ("named", named)].map(|(name, text)| {
        let path = folder.join(name);
        std::fs::write(&path, text.to_string()).expect("a file");
        path
    });
    let home = configuration::choose(&files, None).await;
    assert_eq!(home.expect("a cluster"), "http://127.0.0.1:1/ shop token");
    let away = configuration::choose(&files, Some("away")).await;
    let expected = "http://127.0.0.1:2/ default plugin sesame";
    assert_eq!(away.expect("a cluster"), expected);
    assert!(
        configuration::choose(&files, Some("missing"))
            .await
            .is_err()
    );
    std::fs::remove_dir_all(folder).expect("no more files");
}

#[kubewright_testing::test(needs = [VirtualTime])]
async fn cached_catalog_expires(cluster: Cluster) {
    use kubewright_runtime::discovery::Discovery;
    let minute = Duration::from_secs(60);
    let discovery = Discovery::new(cluster.client()).max_age(minute);
    let first = discovery.catalog().await.expect("a response");
    let again = discovery.catalog().await.expect("a response");
    assert!(Arc::ptr_eq(&first, &again), "a second request");
    tokio::time::sleep(minute).await;
    let later = discovery.catalog().await.expect("a response");
    assert!(!Arc::ptr_eq(&first, &later), "no second request");
}

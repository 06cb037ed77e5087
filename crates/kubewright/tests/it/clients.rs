//! The parts that work without an operator, as the examples show them.

use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::shown::{
    configuration, deltas, discovery, leader, reflector, rest_client, scheme, shared_informer,
    subresources, typed_client,
};

fn config_map(name: &str, label: (&str, &str)) -> ConfigMap {
    let (key, value) = label;
    let map = json!({"metadata": {"name": name, "labels": {key: value}}});
    serde_json::from_value(map).expect("a ConfigMap")
}

#[kubewright_testing::test]
async fn requests_by_path_give_bytes_values_streams_and_statuses(cluster: Cluster) {
    let asked = rest_client::ask(cluster.client(), cluster.namespace()).await;
    let answers = asked.expect("answers");
    assert!(answers.bytes > 100);
    assert_eq!(answers.typed, "hello");
    assert_eq!(answers.events, ["\"ADDED\" letter"]);
    assert_eq!(answers.missing, "404 NotFound");
}

#[kubewright_testing::test]
async fn a_built_in_kind_is_read_and_written_by_its_type(cluster: Cluster) {
    let seen = typed_client::work(cluster.client(), cluster.namespace()).await;
    assert_eq!(
        seen.expect("all of it works"),
        [
            "created a",
            "patched apply,json,merge,strategic,text",
            "listed 1",
            "watched b",
            "left 0",
            "scaled 0 to 1",
        ]
    );
}

#[kubewright_testing::test]
async fn a_kind_is_found_by_its_short_name_and_remembered_on_disk(cluster: Cluster) {
    let cache = std::env::temp_dir().join(format!("kubewright-{}", cluster.namespace()));
    let look = async |name: &str| {
        let found = discovery::look(cluster.client(), &cache, (cluster.namespace(), name)).await;
        found.expect("an answer")
    };
    let found = look("cm").await.expect("a kind");
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
    let kept = cache.join("cluster.example_6443/v1/serverresources.json");
    let kept = std::fs::read_to_string(kept).expect("kubectl's file");
    assert!(kept.contains("\"configmaps\""), "{kept}");
    assert!(look("nothing").await.is_none());
    std::fs::remove_dir_all(cache).expect("no more files");
}

#[kubewright_testing::test]
async fn a_kind_that_came_after_the_last_look_is_found(cluster: Cluster) {
    use kubewright_runtime::discovery::Discovery;
    let discovery = Discovery::new(cluster.client());
    assert!(discovery.find("lamps").await.expect("an answer").is_none());
    cluster.run(crate::shown::manager::operator).await;
    let found = discovery.find("lamps.examples.kubewright.dev").await;
    let found = found.expect("an answer").expect("a kind");
    assert_eq!(found.subresources, ["status"]);
}

#[kubewright_testing::test]
async fn a_reflector_tells_ordered_deltas(cluster: Cluster) {
    cluster.apply(config_map("a", ("watched", "yes"))).await;
    let (sender, mut lines) = mpsc::channel(64);
    let stop = CancellationToken::new();
    let followed = reflector::follow(cluster.client(), cluster.namespace(), sender, stop.clone());
    let namespace = cluster.namespace().to_owned();
    let told = async {
        assert_eq!(lines.recv().await, Some(format!("replaced {namespace}/a")));
        cluster.apply(config_map("b", ("watched", "yes"))).await;
        assert_eq!(lines.recv().await, Some(format!("present {namespace}/b")));
        cluster.delete::<ConfigMap>("a").await;
        assert_eq!(lines.recv().await, Some(format!("gone {namespace}/a")));
        stop.cancel();
    };
    let (followed, ()) = tokio::join!(followed, told);
    followed.expect("a selector");
}

#[kubewright_testing::test]
async fn one_watch_serves_all_handlers_and_an_index(cluster: Cluster) {
    for (name, color) in [("a", "red"), ("b", "blue"), ("c", "red")] {
        cluster.apply(config_map(name, ("color", color))).await;
    }
    let heard = shared_informer::listen(cluster.client(), cluster.namespace()).await;
    let heard = heard.expect("a state");
    assert_eq!(heard.first, ["a", "b", "c"]);
    assert_eq!(heard.late, heard.first);
    assert_eq!(heard.replayed, 3);
    assert_eq!(heard.red, ["a", "c"]);
    assert!(heard.is_shared);
}

#[kubewright_testing::test]
async fn deltas_tell_of_each_object_before_and_after_in_its_order(cluster: Cluster) {
    let map = |name: &str, text: &str| {
        let mut map = config_map(name, ("watched", "yes"));
        map.data = Some([("text".to_owned(), text.to_owned())].into());
        map
    };
    cluster.apply(map("a", "one")).await;
    let (to, mut lines) = mpsc::channel(64);
    let followed = deltas::follow(cluster.client(), cluster.namespace(), to);
    let heard = async {
        let mut next = async || lines.recv().await.unwrap_or_default();
        assert_eq!(next().await, "there was a: one");
        assert_eq!(next().await, "synced");
        cluster.apply(map("b", "two")).await;
        assert_eq!(next().await, "added b: two");
        cluster.apply(map("a", "three")).await;
        assert_eq!(next().await, "updated a: one to three");
        cluster.delete::<ConfigMap>("a").await;
        assert_eq!(next().await, "deleted a: three");
        drop(lines);
        // The last word finds nobody who listens.
        cluster.delete::<ConfigMap>("b").await;
    };
    let (followed, ()) = tokio::join!(followed, heard);
    followed.expect("a selector");
}

#[kubewright_testing::test]
async fn a_status_an_eviction_and_a_token_are_requests_of_their_own(cluster: Cluster) {
    let seen = subresources::work(cluster.client(), cluster.namespace()).await;
    assert_eq!(
        seen.expect("all of it works"),
        ["status unpacking", "evicted true", "a token of 3 parts"]
    );
}

#[test]
fn a_scheme_tells_types_and_versions_apart() {
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
    let expected = ["a map letter", "an old scaler", "a scaler by 0 metrics"];
    assert_eq!(sorted.expect("known kinds"), expected);
    let unknown = json!({"apiVersion": "v1", "kind": "Pod"});
    assert!(scheme::sort(vec![unknown]).is_err());
    let versions = scheme::versions().map(|kind| kind.map(|kind| kind.api_version()));
    let expected = ["autoscaling/v1", "autoscaling/v2"].map(|one| Some(one.to_owned()));
    assert_eq!(versions, expected);
}

#[kubewright_testing::test]
async fn the_second_candidate_leads_when_the_first_gives_the_lease_back(cluster: Cluster) {
    let (to, mut lines) = mpsc::channel(64);
    let (first, second) = (CancellationToken::new(), CancellationToken::new());
    let namespace = cluster.namespace();
    let with = || (cluster.client(), cluster.clock());
    let one = leader::stand(with(), namespace, "one", to.clone(), first.clone());
    let other = async {
        assert_eq!(lines.recv().await.as_deref(), Some("one leads"));
        let stood = leader::stand(with(), namespace, "two", to, second.clone());
        let heard = async {
            first.cancel();
            while lines.recv().await.as_deref() != Some("two leads") {}
            second.cancel();
        };
        tokio::join!(stood, heard).0
    };
    let (one, other) = tokio::join!(one, other);
    one.expect("times that fit");
    other.expect("times that fit");
}

/// Two kubeconfigs that need each other: the first has the contexts, the second what they name.
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
        configuration::choose(&files, Some("nowhere"))
            .await
            .is_err()
    );
    std::fs::remove_dir_all(folder).expect("no more files");
}

#[kubewright_testing::test(needs = [VirtualTime])]
async fn what_is_remembered_in_memory_has_its_time(cluster: Cluster) {
    use kubewright_runtime::discovery::Discovery;
    let minute = Duration::from_secs(60);
    let discovery = Discovery::new(cluster.client()).max_age(minute);
    let first = discovery.catalog().await.expect("an answer");
    let again = discovery.catalog().await.expect("an answer");
    assert!(Arc::ptr_eq(&first, &again), "asked twice");
    tokio::time::sleep(minute).await;
    let later = discovery.catalog().await.expect("an answer");
    assert!(!Arc::ptr_eq(&first, &later), "not asked again");
}

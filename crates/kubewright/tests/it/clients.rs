//! The parts that work without an operator, as the examples show them.

use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::shown::{discovery, reflector, rest_client, shared_informer, typed_client};

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

//! Tests of indexes.

use std::sync::Arc;

use kubewright_runtime::cache::View;
use kubewright_runtime::record::Record;
use kubewright_runtime::store::{Delta, Filter, IndexFunction, Store};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::scripted_server::{ScriptedServer, key, pod, pods};

fn on_node(name: &str, revision: u64, node: &str) -> Value {
    let mut object = pod(name, revision);
    object["spec"]["nodeName"] = json!(node);
    object
}

fn record(object: &Value) -> Record {
    Record::from_value(object).expect("an object")
}

fn by_node() -> IndexFunction {
    Arc::new(|record| {
        let node = record.selectable("spec.nodeName");
        node.map(Into::into).into_iter().collect()
    })
}

fn names(store: &Store, index: &str, value: &str) -> Vec<String> {
    let found = store.by_index(index, value).expect("the index exists");
    found.iter().map(|(key, _)| key.name().to_owned()).collect()
}

#[test]
fn index_contains_earlier_objects_and_follows_changes() {
    let store = Store::new(Filter::default());
    let list = [on_node("a", 1, "n1"), on_node("b", 2, "n2")];
    store.replace(list.iter().map(record).collect(), "10");
    store.add_index("node", by_node());
    assert_eq!(names(&store, "node", "n1"), ["a"]);
    store.apply([
        Delta::Applied(record(&on_node("a", 11, "n2"))),
        Delta::Applied(record(&on_node("c", 12, "n1"))),
    ]);
    assert_eq!(names(&store, "node", "n1"), ["c"]);
    assert_eq!(names(&store, "node", "n2"), ["a", "b"]);
    store.apply([Delta::Deleted(record(&on_node("b", 13, "n2")))]);
    assert_eq!(names(&store, "node", "n2"), ["a"]);
    store.replace(vec![record(&on_node("d", 14, "n2"))], "20");
    assert_eq!(names(&store, "node", "n2"), ["d"]);
    assert!(names(&store, "node", "n1").is_empty());
}

#[test]
fn index_contains_own_writes_and_not_the_replaced_versions() {
    let store = Store::new(Filter::default());
    let list = [on_node("a", 1, "n1"), on_node("b", 2, "n1")];
    store.replace(list.iter().map(record).collect(), "10");
    store.note_write(key("a"), record(&on_node("a", 11, "n2")));
    // Added while an own write is in the overlay.
    store.add_index("node", by_node());
    assert_eq!(names(&store, "node", "n1"), ["b"]);
    assert_eq!(names(&store, "node", "n2"), ["a"]);
    store.note_delete(key("b"), "uid-b");
    assert!(names(&store, "node", "n1").is_empty());
}

fn labelled(name: &str, revision: u64, labels: &[(&str, &str)]) -> Record {
    let mut object = pod(name, revision);
    object["metadata"]["labels"] = labels.iter().copied().collect();
    record(&object)
}

#[test]
fn label_index_finds_the_same_objects_as_a_scan() {
    let (scanned, indexed) = (Store::new(Filter::default()), Store::new(Filter::default()));
    indexed.index_labels();
    let list = || {
        vec![
            labelled("a", 1, &[("app", "web"), ("tier", "x")]),
            labelled("b", 2, &[("app", "db")]),
            labelled("c", 3, &[("app", "web")]),
            labelled("d", 4, &[("tier", "x")]),
        ]
    };
    let late = Store::new(Filter::default());
    for store in [&scanned, &indexed, &late] {
        store.replace(list(), "10");
        store.apply([
            Delta::Applied(labelled("c", 11, &[("app", "db")])),
            Delta::Deleted(labelled("b", 12, &[("app", "db")])),
        ]);
        store.note_write(key("a"), labelled("a", 13, &[("app", "db")]));
        store.note_write(key("e"), labelled("e", 14, &[("app", "web")]));
    }
    late.index_labels();
    let names = |store: &Store, selector: &str| -> Vec<String> {
        let selector = selector.parse().expect("a selector");
        let found = store.matching(&selector);
        found.iter().map(|(key, _)| key.name().to_owned()).collect()
    };
    for (selector, expected) in [
        ("app=web", &["e"][..]),
        ("app=db", &["a", "c"]),
        ("app in (web, db, none)", &["a", "c", "e"]),
        ("tier=x", &["d"]),
        ("tier=x,app=web", &[]),
        ("!app,tier=x", &["d"]),
        ("app!=web", &["a", "c", "d"]),
        ("", &["a", "c", "d", "e"]),
    ] {
        for store in [&scanned, &indexed, &late] {
            assert_eq!(names(store, selector), expected, "{selector}");
        }
    }
}

#[test]
fn object_for_which_an_index_panics_has_no_value_and_others_are_indexed() {
    let store = Store::new(Filter::default());
    let by_node = by_node();
    let picky: IndexFunction = Arc::new(move |record| {
        assert_ne!(record.name(), "b", "no value for b");
        by_node(record)
    });
    store.add_index("node", picky);
    let list = [on_node("a", 1, "n1"), on_node("b", 2, "n1")];
    store.replace(list.iter().map(record).collect(), "10");
    store.apply([Delta::Applied(record(&on_node("c", 11, "n1")))]);
    assert_eq!(names(&store, "node", "n1"), ["a", "c"]);
    assert!(store.get(&key("b")).is_some());
    store.apply([Delta::Deleted(record(&on_node("b", 12, "n1")))]);
    assert!(store.get(&key("b")).is_none());
}

#[test]
fn unknown_index_is_an_error_with_its_name() {
    let store = Store::new(Filter::default());
    store.add_index("node", by_node());
    assert!(store.by_index("node", "n1").is_ok());
    store.remove_index("node");
    let error = store.by_index("node", "n1").unwrap_err();
    assert_eq!(
        error.to_string(),
        "look up objects by index \"node\": there is no index with this name; add it first"
    );
}

#[derive(Deserialize)]
struct Placed {
    spec: Placement,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Placement {
    node_name: String,
}

#[tokio::test(start_paused = true)]
async fn index_function_reads_a_user_defined_struct() {
    let server = ScriptedServer::default();
    let mut odd = pod("odd", 3);
    odd["spec"]["nodeName"] = json!(7);
    server.list(10, &[on_node("a", 1, "n1"), on_node("b", 2, "n2"), odd]);
    let informers = server.informers();
    let view = View::<Placed>::new(informers.get(&pods()));
    view.add_index("node", |pod| vec![pod.spec.node_name.clone()]);
    view.informer().synced().await.unwrap();
    let found = view.by_index("node", "n2").unwrap();
    let found: Vec<String> = found.iter().map(|pod| pod.spec.node_name.clone()).collect();
    assert_eq!(found, ["n2"]);
    assert!(view.by_index("nodes", "n2").is_err());
}

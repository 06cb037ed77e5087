//! Tests of the cache of decoded objects.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use kubewright_runtime::cache::{List, View};
use kubewright_runtime::informer::{Informer, InformerOptions, Informers};
use kubewright_runtime::record::Record;
use kubewright_runtime::reflector::{ReflectorOptions, Streaming};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::scripted_server::{ScriptedServer, key, pod, pods};

async fn informer(objects: &[Value], decoded_bytes: usize) -> (Informers, Informer) {
    let server = ScriptedServer::default();
    server.list(10, objects);
    let options = InformerOptions {
        reflector: ReflectorOptions {
            streaming: Streaming::off(),
            ..ReflectorOptions::default()
        },
        decoded_bytes: Some(decoded_bytes),
        ..InformerOptions::default()
    };
    let informers = Informers::new(server.client(), options);
    let informer = informers.get(&pods());
    informer.synced().await.expect("the list succeeds");
    (informers, informer)
}

fn names(list: &List<Pod>) -> Vec<String> {
    list.iter()
        .filter_map(|pod| pod.metadata.name.clone())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn read_shares_the_decoded_object_until_it_changes() {
    let (_informers, informer) = informer(&[pod("a", 1)], 1 << 20).await;
    let view = View::<Pod>::new(informer.clone());
    let first = view.get(&key("a")).unwrap().unwrap();
    let second = View::<Pod>::new(informer.clone()).get(&key("a")).unwrap();
    assert!(Arc::ptr_eq(&first, &second.unwrap()));
    let newer = Record::from_value(&pod("a", 12)).unwrap();
    informer.store().note_write(key("a"), newer);
    let third = view.get(&key("a")).unwrap().unwrap();
    assert_eq!(third.metadata.resource_version.as_deref(), Some("12"));
    assert!(view.get(&key("b")).unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn object_in_use_is_shared_beyond_the_budget() {
    let objects: Vec<Value> = (0..20).map(|n| pod(&format!("p{n:02}"), n)).collect();
    let size = Record::from_value(&objects[0]).unwrap().byte_len();
    // A budget for about three objects.
    let (_informers, informer) = informer(&objects, size * 15 * 4).await;
    let view = View::<Pod>::new(informer);
    let in_use = view.get(&key("p00")).unwrap().unwrap();
    let weak = Arc::downgrade(&view.get(&key("p01")).unwrap().unwrap());
    assert!(weak.upgrade().is_some(), "cached without a reader");
    for n in 2..20 {
        view.get(&key(&format!("p{n:02}"))).unwrap().unwrap();
    }
    assert!(weak.upgrade().is_none(), "evicted");
    assert!(Arc::ptr_eq(
        &in_use,
        &view.get(&key("p00")).unwrap().unwrap()
    ));
}

#[tokio::test(start_paused = true)]
async fn short_list_is_cached_and_long_list_is_not() {
    let objects: Vec<Value> = (0..20).map(|n| pod(&format!("p{n:02}"), n)).collect();
    let (_informers, measured) = informer(&objects, 0).await;
    let all = measured.store().byte_len() * 15;
    let is_cached = async |budget: usize| {
        let (_informers, informer) = informer(&objects, budget).await;
        let view = View::<Pod>::new(informer);
        let first = view.list().iter().next().map(|pod| Arc::downgrade(&pod));
        first.unwrap().upgrade().is_some()
    };
    // Lists use at most half of the budget.
    assert!(is_cached(2 * all).await);
    assert!(!is_cached(2 * all - 2).await);
}

#[tokio::test(start_paused = true)]
async fn list_is_a_snapshot_in_key_order_with_own_writes() {
    let (_informers, informer) = informer(&[pod("b", 2), pod("a", 1)], 1 << 20).await;
    let view = View::<Pod>::new(informer.clone());
    let before = view.list();
    informer
        .store()
        .note_write(key("c"), Record::from_value(&pod("c", 11)).unwrap());
    informer.store().note_delete(key("a"), "uid-a");
    assert_eq!(names(&before), ["a", "b"]);
    assert_eq!(names(&view.list()), ["b", "c"]);
    assert_eq!(view.list().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn objects_are_found_by_their_owner() {
    let owned = |name: &str, revision, owner: &str| {
        let mut object = pod(name, revision);
        object["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1",
            "kind": "ReplicaSet", "name": "rs", "uid": owner, "controller": true}]);
        object
    };
    let objects = [owned("a", 1, "o1"), owned("b", 2, "o2"), pod("c", 3)];
    let (_informers, informer) = informer(&objects, 1 << 20).await;
    let view = View::<Pod>::new(informer.clone());
    assert_eq!(names(&view.by_owner("o1")), ["a"]);
    let adopted = Record::from_value(&owned("c", 11, "o1")).unwrap();
    let orphaned = Record::from_value(&pod("a", 12)).unwrap();
    informer.store().note_write(key("c"), adopted);
    assert_eq!(names(&view.by_owner("o1")), ["a", "c"]);
    informer.store().note_write(key("a"), orphaned);
    assert_eq!(names(&view.by_owner("o1")), ["c"]);
    assert!(view.by_owner("o3").is_empty());
}

#[tokio::test(start_paused = true)]
async fn undecodable_object_is_skipped_in_lists_and_an_error_on_get() {
    let mut bad = pod("bad", 2);
    bad["spec"]["containers"] = json!("none");
    let (_informers, informer) = informer(&[pod("a", 1), bad], 1 << 20).await;
    let view = View::<Pod>::new(informer);
    assert_eq!(names(&view.list()), ["a"]);
    let undecodable = view.list().undecodable();
    assert_eq!(undecodable.len(), 1);
    assert_eq!(undecodable[0].key(), &key("bad"));
    let error = view.get(&key("bad")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "decode Pod shop/bad at revision 2 from the cache: it does not have the expected type"
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
async fn view_decodes_a_struct_with_some_of_the_fields() {
    let (_informers, informer) = informer(&[pod("a", 1)], 1 << 20).await;
    let view = View::<Placed>::new(informer);
    let placed = view.get(&key("a")).unwrap().unwrap();
    assert_eq!(placed.spec.node_name, "n1");
}

#[tokio::test(start_paused = true)]
async fn only_objects_that_match_namespace_and_labels_are_decoded() {
    let labelled = |name: &str, namespace: &str, app: &str| {
        let mut pod = pod(name, 1);
        pod["metadata"]["namespace"] = json!(namespace);
        pod["metadata"]["labels"] = json!({"app": app});
        pod
    };
    let mut broken = labelled("broken", "shop", "database");
    broken["spec"] = json!("nonsense");
    let objects = [
        labelled("a", "shop", "web"),
        broken,
        labelled("b", "bank", "web"),
        labelled("c", "shop", "web"),
    ];
    let (_informers, informer) = informer(&objects, 1 << 20).await;
    let view = View::<Pod>::new(informer);
    let web = "app=web".parse().expect("a selector");
    let here = view.matching(Some("shop"), &web);
    assert_eq!(names(&here), ["a", "c"]);
    assert!(here.undecodable().is_empty());
    assert_eq!(names(&view.matching(None, &web)), ["b", "a", "c"]);
    let all = view.matching(Some("shop"), &Default::default());
    assert_eq!(all.undecodable().len(), 1);
}

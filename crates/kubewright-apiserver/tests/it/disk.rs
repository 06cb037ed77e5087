//! Servers that store their objects in a folder.

use kubewright_apiserver::store::{Expected, Key, Store};
use kubewright_apiserver::{Server, ServerOptions};
use kubewright_core::Revision;
use serde_json::json;

use crate::client::Client;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// Each round is a race with the disk.
const ROUNDS: usize = 10;

fn server(folder: &tempfile::TempDir) -> Server {
    Server::open(ServerOptions::default(), folder.path()).expect("an empty folder")
}

/// Stores a ConfigMap without the wait for the disk. Returns the revision before.
fn store_unsettled(store: &Store, name: &str) -> Revision {
    let before = store.revision();
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
    });
    let key = Key::new("configmaps", Some("default"), name);
    store
        .put(key, Expected::Absent, object)
        .expect("no such object");
    before
}

/// Whether the ConfigMap that was stored after a revision is on the disk: readers of the log see
/// nothing else.
fn is_on_disk(store: &Store, after: Revision) -> bool {
    let changes = store.watch_resource_from("configmaps", after).now();
    !changes.expect("a recent revision").is_empty()
}

#[tokio::test]
async fn initial_state_of_a_watch_is_on_the_disk_before_it_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let client = Client::admin(&server);
    for round in 0..ROUNDS {
        let name = format!("a{round}");
        let path = format!("{MAPS}?watch=1&fieldSelector=metadata.name={name}");
        let mut events = client.watch(&path).await;
        let before = store_unsettled(server.store(), &name);
        assert_eq!(events.brief().await, format!("ADDED {name}"));
        assert!(is_on_disk(server.store(), before), "round {round}");
    }
}

#[tokio::test]
async fn discovery_shows_only_what_is_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let client = Client::admin(&server);
    for (round, path) in ["/apis", "/api/v1", "/openapi/v3"]
        .repeat(3)
        .iter()
        .enumerate()
    {
        let before = store_unsettled(server.store(), &format!("a{round}"));
        assert_eq!(client.get(path).await.code, 200);
        assert!(is_on_disk(server.store(), before), "{path}");
    }
}

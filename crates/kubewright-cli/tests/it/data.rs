use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, ResourceExt as _};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::task::JoinSet;

use super::{complaint, kubewright};

/// A cluster whose process ends with the test, if not before.
struct Running(Child);

impl Running {
    /// Starts a cluster on a data folder, and waits until it serves.
    fn start(folder: &Path) -> Self {
        let folder = folder.to_str().expect("a path in UTF-8");
        let mut child = kubewright(&["cluster", "--nodes", "0", "--data", folder])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut said = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let last = said.nth(2).expect("three lines").expect("text");
        assert!(last.contains("everything is kept in"), "{last}");
        Self(child)
    }

    async fn client(folder: &Path) -> Client {
        let kubeconfig = Kubeconfig::read_from(folder.join("kubeconfig.yaml")).expect("one");
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options);
        Client::try_from(config.await.expect("a configuration")).expect("a client")
    }

    fn kill(mut self) {
        self.0.kill().expect("the process is there");
        self.0.wait().expect("it ends");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// What the server has acknowledged: for each name the last value, none for a deleted one.
type Acknowledged = BTreeMap<String, Option<u32>>;

/// Creates, changes and deletes until the server no longer answers. A write that was sent and not
/// answered may have happened or not; its name is the second thing that comes back.
async fn write_until_it_ends(client: Client, writer: String) -> (Acknowledged, Option<String>) {
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let mut done = Acknowledged::new();
    for number in 0.. {
        let name = format!("{writer}-{number}");
        let map = |value: u32| {
            let value = value.to_string();
            // Both members are written together: one without the other would be half a write.
            json!({"metadata": {"name": name}, "data": {"a": value, "b": value}})
        };
        let first: ConfigMap = serde_json::from_value(map(0)).expect("a ConfigMap");
        if maps.create(&PostParams::default(), &first).await.is_err() {
            return (done, Some(name));
        }
        done.insert(name.clone(), Some(0));
        let patch = Patch::Merge(map(1));
        if maps
            .patch(&name, &PatchParams::default(), &patch)
            .await
            .is_err()
        {
            return (done, Some(name));
        }
        done.insert(name.clone(), Some(1));
        if number % 3 == 0 {
            if maps.delete(&name, &DeleteParams::default()).await.is_err() {
                return (done, Some(name));
            }
            done.insert(name, None);
        }
    }
    (done, None)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_in_fifty_kills_under_load() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut kept = Acknowledged::new();
    let mut unsure = BTreeSet::new();
    let mut writes = 0;
    for round in 0..50 {
        let cluster = Running::start(folder.path());
        let client = Running::client(folder.path()).await;
        check(&client, &kept, &unsure).await;
        let mut writers = JoinSet::new();
        for writer in 0..4 {
            let name = format!("r{round}-w{writer}");
            writers.spawn(write_until_it_ends(client.clone(), name));
        }
        tokio::time::sleep(Duration::from_millis(60 + 7 * (round % 10))).await;
        cluster.kill();
        for (done, open) in writers.join_all().await {
            writes += done.len();
            kept.extend(done);
            unsure.extend(open);
        }
    }
    let cluster = Running::start(folder.path());
    let client = Running::client(folder.path()).await;
    check(&client, &kept, &unsure).await;
    assert!(writes > 100, "only {writes} objects were written");
    drop(cluster);
}

/// Everything that was acknowledged is there as it was last acknowledged, and nothing is half
/// there.
async fn check(client: &Client, kept: &Acknowledged, unsure: &BTreeSet<String>) {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let found = maps.list(&ListParams::default()).await.expect("a list");
    let mut present = BTreeMap::new();
    for map in found {
        let name = map.name_any();
        let data = map.data.unwrap_or_default();
        if name == "kube-root-ca.crt" {
            continue;
        }
        assert_eq!(data.get("a"), data.get("b"), "{name} is half there");
        let value: u32 = data["a"].parse().expect("a number");
        present.insert(name, value);
    }
    for (name, value) in kept.iter().filter(|(name, _)| !unsure.contains(*name)) {
        assert_eq!(present.get(name), value.as_ref(), "{name}");
    }
    for name in present.keys() {
        let is_known = kept.contains_key(name) || unsure.contains(name);
        assert!(is_known, "{name} was never written");
    }
}

#[tokio::test]
async fn a_cluster_goes_on_where_it_was_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut cluster = Running::start(folder.path());
    let client = Running::client(folder.path()).await;
    let secrets: Api<Secret> = Api::namespaced(client, "default");
    let secret = serde_json::from_value(json!({
        "metadata": {"name": "s"}, "stringData": {"k": "v"},
    }));
    let stored = secrets
        .create(&PostParams::default(), &secret.expect("a Secret"))
        .await
        .expect("it is stored");
    let pid = i32::try_from(cluster.0.id()).ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a process id"), Signal::INT).expect("the process is there");
    assert!(cluster.0.wait().expect("it ends").success());

    let again = Running::start(folder.path());
    let path = folder.path().to_str().expect("a path in UTF-8");
    let second = kubewright(&["cluster", "--data", path]).output();
    let complaint = complaint(&second.expect("the command runs"));
    assert!(
        complaint.contains("another cluster is using it"),
        "{complaint}"
    );

    let client = Running::client(folder.path()).await;
    let secrets: Api<Secret> = Api::namespaced(client, "default");
    let found = secrets.get("s").await.expect("it is still there");
    assert_eq!(found.uid(), stored.uid());
    assert_eq!(found.resource_version(), stored.resource_version());
    drop(again);
}

#[test]
fn a_data_folder_that_cannot_be_made_is_named() {
    let output = kubewright(&["cluster", "--data", "/proc/nowhere"])
        .output()
        .expect("the command runs");
    let complaint = complaint(&output);
    assert!(
        complaint.contains("make the data folder /proc/nowhere"),
        "{complaint}"
    );
}

//! `kubewright cluster --data`: what a cluster stores survives kills, restarts and full disks.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, ResourceExt};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::json;
use tokio::task::JoinSet;

use super::{error_of, kubewright};

/// The process of a cluster, which is killed when it is dropped.
struct ClusterProcess(Child);

impl ClusterProcess {
    /// Starts a cluster on a data folder, and waits until it serves.
    fn start(folder: &Path) -> Self {
        let folder = folder.to_str().expect("a path in UTF-8");
        Self::spawn(kubewright(&["cluster", "--nodes", "0", "--data", folder]))
    }

    /// Starts a cluster that can be limited in the size of its files: a write beyond the limit fails
    /// instead of killing the process.
    fn start_limited(folder: &Path) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"]);
        shell.arg(env!("CARGO_BIN_EXE_kubewright"));
        shell
            .args(["cluster", "--nodes", "0", "--data"])
            .arg(folder);
        Self::spawn(shell)
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let last = stdout.nth(2).expect("three lines").expect("text");
        assert!(last.contains("all objects are kept in"), "{last}");
        Self(child)
    }

    async fn client(folder: &Path) -> Client {
        let kubeconfig = Kubeconfig::read_from(folder.join("kubeconfig.yaml")).expect("one");
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options);
        Client::try_from(config.await.expect("a configuration")).expect("a client")
    }

    fn kill(mut self) {
        self.0.kill().expect("the process is killed");
        self.0.wait().expect("it exits");
    }
}

impl Drop for ClusterProcess {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The acknowledged writes: the last value of each name, none for a deleted one.
type Acknowledged = BTreeMap<String, Option<u32>>;

/// What a writer has written.
struct Written {
    acknowledged: Acknowledged,
    /// The name of the write without a response, which may be stored or not.
    unacknowledged: Option<String>,
}

impl Written {
    fn until(acknowledged: Acknowledged, name: String) -> Self {
        Self {
            acknowledged,
            unacknowledged: Some(name),
        }
    }
}

/// Creates, changes and deletes until the server no longer responds.
async fn write_until_the_end(client: Client, writer: String) -> Written {
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let mut done = Acknowledged::new();
    for number in 0.. {
        let name = format!("{writer}-{number}");
        let map = |value: u32| {
            let value = value.to_string();
            // Both values are written together: different values mean that a write is stored partially.
            json!({"metadata": {"name": name}, "data": {"a": value, "b": value}})
        };
        let first: ConfigMap = serde_json::from_value(map(0)).expect("a ConfigMap");
        if maps.create(&PostParams::default(), &first).await.is_err() {
            return Written::until(done, name);
        }
        done.insert(name.clone(), Some(0));
        let patch = Patch::Merge(map(1));
        if maps
            .patch(&name, &PatchParams::default(), &patch)
            .await
            .is_err()
        {
            return Written::until(done, name);
        }
        done.insert(name.clone(), Some(1));
        if number % 3 == 0 {
            if maps.delete(&name, &DeleteParams::default()).await.is_err() {
                return Written::until(done, name);
            }
            done.insert(name, None);
        }
    }
    Written {
        acknowledged: done,
        unacknowledged: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_in_fifty_kills_under_load() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut acknowledged = Acknowledged::new();
    let mut unacknowledged = BTreeSet::new();
    let mut writes = 0;
    for round in 0..50 {
        let cluster = ClusterProcess::start(folder.path());
        let client = ClusterProcess::client(folder.path()).await;
        check(&client, &acknowledged, &unacknowledged).await;
        let mut writers = JoinSet::new();
        for writer in 0..4 {
            let name = format!("r{round}-w{writer}");
            writers.spawn(write_until_the_end(client.clone(), name));
        }
        tokio::time::sleep(Duration::from_millis(60 + 7 * (round % 10))).await;
        cluster.kill();
        for written in writers.join_all().await {
            writes += written.acknowledged.len();
            acknowledged.extend(written.acknowledged);
            unacknowledged.extend(written.unacknowledged);
        }
    }
    let cluster = ClusterProcess::start(folder.path());
    let client = ClusterProcess::client(folder.path()).await;
    check(&client, &acknowledged, &unacknowledged).await;
    assert!(writes > 100, "only {writes} objects were written");
    drop(cluster);
}

/// Checks that every acknowledged write is stored, and that none is stored partially.
async fn check(client: &Client, acknowledged: &Acknowledged, unacknowledged: &BTreeSet<String>) {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let found = maps.list(&ListParams::default()).await.expect("a list");
    let mut present = BTreeMap::new();
    for map in found {
        let name = map.name_any();
        let data = map.data.unwrap_or_default();
        if name == "kube-root-ca.crt" {
            continue;
        }
        assert_eq!(data.get("a"), data.get("b"), "{name} is stored partially");
        let value: u32 = data["a"].parse().expect("a number");
        present.insert(name, value);
    }
    for (name, value) in acknowledged {
        if !unacknowledged.contains(name) {
            assert_eq!(present.get(name), value.as_ref(), "{name}");
        }
    }
    for name in present.keys() {
        let is_known = acknowledged.contains_key(name) || unacknowledged.contains(name);
        assert!(is_known, "{name} was never written");
    }
}

#[tokio::test]
async fn restarted_cluster_has_the_same_objects() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut cluster = ClusterProcess::start(folder.path());
    let client = ClusterProcess::client(folder.path()).await;
    let secrets: Api<Secret> = Api::namespaced(client, "default");
    let secret = serde_json::from_value(json!({
        "metadata": {"name": "s"}, "stringData": {"k": "v"},
    }));
    let stored = secrets
        .create(&PostParams::default(), &secret.expect("a Secret"))
        .await
        .expect("it is stored");
    let pid = i32::try_from(cluster.0.id()).ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a process id"), Signal::INT).expect("the signal is sent");
    assert!(cluster.0.wait().expect("it exits").success());

    let again = ClusterProcess::start(folder.path());
    let path = folder.path().to_str().expect("a path in UTF-8");
    let second = kubewright(&["cluster", "--data", path]).output();
    let error = error_of(&second.expect("the command runs"));
    assert!(error.contains("another cluster is using it"), "{error}");

    let client = ClusterProcess::client(folder.path()).await;
    let secrets: Api<Secret> = Api::namespaced(client, "default");
    let found = secrets.get("s").await.expect("it is stored");
    assert_eq!(found.uid(), stored.uid());
    assert_eq!(found.resource_version(), stored.resource_version());
    drop(again);
}

/// JSON and YAML have different limits of depth, and managedFields add some levels.
#[tokio::test]
async fn deeply_nested_objects_survive_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = ClusterProcess::start(folder.path());
    let client = ClusterProcess::client(folder.path()).await;
    let definition = json!({
        "metadata": {"name": "pots.deep.example.com"},
        "spec": {
            "group": "deep.example.com", "scope": "Namespaced",
            "names": {"plural": "pots", "kind": "Pot"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }}],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    send(
        &client,
        definitions,
        "application/json",
        definition.to_string(),
    )
    .await;
    let pots = "/apis/deep.example.com/v1/namespaces/default/pots";
    let head = r#""apiVersion":"deep.example.com/v1","kind":"Pot""#;
    for (name, levels, media_type) in [
        ("a", 1, "application/json"),
        ("json", 122, "application/json"),
        ("yaml", 190, "application/yaml"),
    ] {
        let (open, close) = (r#"{"a":"#.repeat(levels), "}".repeat(levels));
        let text = format!(r#"{{{head},"metadata":{{"name":"{name}"}},"spec":{open}1{close}}}"#);
        send(&client, pots, media_type, text).await;
    }
    cluster.kill();

    let again = ClusterProcess::start(folder.path());
    let client = ClusterProcess::client(folder.path()).await;
    let request = http::Request::get(pots)
        .body(Vec::new())
        .expect("a request");
    let text = client.request_text(request).await.expect("a list");
    assert_eq!(text.matches(r#""kind":"Pot""#).count(), 3);
    assert!(text.contains(&r#"{"a":"#.repeat(190)));
    drop(again);
}

async fn send(client: &Client, path: &str, media_type: &str, body: String) {
    let request = http::Request::post(path)
        .header("content-type", media_type)
        .body(body.into_bytes())
        .expect("a request");
    client.request_text(request).await.expect("it is stored");
}

#[tokio::test]
async fn only_the_owner_can_read_stored_secrets() {
    use std::os::unix::fs::PermissionsExt as _;
    let parent = tempfile::tempdir().expect("a folder");
    let folder = parent.path().join("data");
    let cluster = ClusterProcess::start(&folder);
    let mode = |path: &Path| path.metadata().expect("it exists").permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for entry in folder.read_dir().expect("a folder") {
        let path = entry.expect("an entry").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    drop(cluster);
}

/// The limit for the size of files, which stands in for a full disk.
const FULL: u64 = 6 * 1024 * 1024;

#[tokio::test]
async fn writes_fail_on_a_full_disk_and_succeed_when_there_is_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = ClusterProcess::start_limited(folder.path());
    let limit = |bytes: Option<u64>| {
        let pid = i32::try_from(cluster.0.id()).ok().and_then(Pid::from_raw);
        let limit = Rlimit {
            current: bytes,
            maximum: None,
        };
        prlimit(pid, Resource::Fsize, limit).expect("the limit is set");
    };
    let client = ClusterProcess::client(folder.path()).await;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let map = |name: &str| {
        let data = json!({"metadata": {"name": name}, "data": {"a": "x".repeat(300_000)}});
        serde_json::from_value::<ConfigMap>(data).expect("a ConfigMap")
    };
    limit(Some(FULL));
    let mut stored = Vec::new();
    let failed = loop {
        let name = format!("m{}", stored.len());
        match maps.create(&PostParams::default(), &map(&name)).await {
            Ok(_) => stored.push(name),
            Err(kube::Error::Api(status)) => break (name, status),
            Err(error) => panic!("{error}"),
        }
        assert!(stored.len() < 100, "the limit is not reached");
    };
    let (name, status) = failed;
    assert_eq!(status.code, 500);
    let reason = "File too large (os error 27)";
    assert!(status.message.contains(reason), "{}", status.message);
    assert!(
        status.message.contains("nothing was stored"),
        "{}",
        status.message
    );
    // Only the failed write is missing, and the readiness endpoint reports the reason.
    let list = maps.list(&ListParams::default()).await.expect("a list");
    let names: BTreeSet<String> = list.iter().map(ResourceExt::name_any).collect();
    assert!(!names.contains(&name) && stored.iter().all(|name| names.contains(name)));
    let ready = |client: Client| async move {
        let request = http::Request::get("/readyz").body(kube::client::Body::empty());
        let response = client
            .send(request.expect("a request"))
            .await
            .expect("a response");
        let code = response.status().as_u16();
        let body = response.into_body().collect_bytes().await.expect("a body");
        (code, String::from_utf8_lossy(&body).into_owned())
    };
    let (code, text) = ready(client.clone()).await;
    assert_eq!(code, 500);
    assert!(
        text.contains("[-]etcd-readiness failed: ") && text.contains(reason),
        "{text}"
    );
    limit(None);
    while ready(client.clone()).await.0 != 200 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let created = maps.create(&PostParams::default(), &map("after")).await;
    stored.push(created.expect("there is room").name_any());
    cluster.kill();

    let again = ClusterProcess::start(folder.path());
    let client = ClusterProcess::client(folder.path()).await;
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let list = maps.list(&ListParams::default()).await.expect("a list");
    let names: BTreeSet<String> = list.iter().map(ResourceExt::name_any).collect();
    assert!(!names.contains(&name) && stored.iter().all(|name| names.contains(name)));
    drop(again);
}

#[test]
fn error_names_a_data_folder_that_cannot_be_created() {
    let output = kubewright(&["cluster", "--data", "/proc/nowhere"])
        .output()
        .expect("the command runs");
    let error = error_of(&output);
    assert!(
        error.contains("create the data folder /proc/nowhere"),
        "{error}"
    );
}

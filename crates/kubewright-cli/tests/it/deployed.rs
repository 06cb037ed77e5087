//! What `image` packs and `deploy` brings into a cluster, at work there.

use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::Node;
use kube::api::{DynamicObject, ListParams};
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::egress::{Egress, Route};
use super::flow::{cargo, of_this_package, succeeds, workspace};
use super::kubelet::Kubelet;
use super::kubewright;
use super::ship::{Ground, operator};

/// The Deployments name the ports that their programs listen on: one at a time.
static TURN: Semaphore = Semaphore::const_new(1);

/// What the layers of MyDaemonSet's image may be in all, unpacked.
const LARGEST: u64 = 15_000_000;

/// The archive that `image` makes of an operator.
fn archive(name: &str, folder: &Path) -> PathBuf {
    let archive = folder.join("image.tar");
    let mut command = kubewright(&["image", "--output", "json"]);
    command.arg(operator(name)).arg("--archive").arg(&archive);
    let made = succeeds(command, &workspace());
    let made: Value = serde_json::from_slice(&made.stdout).expect("JSON");
    let unpacked = made["unpackedBytes"].as_u64().expect("a size");
    assert!(name != "mydaemonset" || unpacked < LARGEST, "{made}");
    archive
}

/// The one object of a kind in the operator's namespace for which a claim holds.
async fn only(
    ground: &Ground,
    (kind, plural): (&str, &str),
    is_it: impl Fn(&Value) -> bool,
) -> Value {
    let all = ground.of("", "v1", kind, plural);
    let found = all.list(&ListParams::default()).await;
    let found = found.expect("the server answers").items.into_iter();
    let values = found.map(|one: DynamicObject| serde_json::to_value(one).expect("JSON"));
    let mut these: Vec<Value> = values.filter(is_it).collect();
    assert_eq!(these.len(), 1, "{kind}: {these:?}");
    these.remove(0)
}

/// Runs the operator's own tests against what is deployed and counts those that did not skip. What
/// is about the program itself, or about one that injects by policies, is not about that.
async fn run_tests(name: &str, ground: &Ground) -> usize {
    let mut command = cargo(&[
        "test",
        "-p",
        name,
        "--test",
        "it",
        "--",
        "--skip",
        "program::",
        "--skip",
        "policies::",
    ]);
    of_this_package(&mut command);
    command
        .current_dir(workspace())
        .env("KUBEWRIGHT_TEST_CLUSTER", "existing")
        .env("KUBEWRIGHT_TEST_OPERATOR", "deployed")
        .env("KUBEWRIGHT_TEST_NODES", "simulated")
        .env("KUBEWRIGHT_TEST_TIMEOUT", "60")
        .env("KUBECONFIG", ground.kubeconfig());
    let output = tokio::process::Command::from(command).output().await;
    let output = output.expect("cargo runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{printed}\n{said}");
    let passed = printed.lines().filter(|line| line.ends_with("... ok"));
    let skipped = said
        .lines()
        .filter(|line| line.starts_with("kubewright: skipped "));
    passed.count().saturating_sub(skipped.count())
}

/// Brings an operator into a real cluster, runs its Pod's container out of the image, and holds
/// its own tests against it; at least so many of them have to say something.
async fn a_deployed_operator_passes_its_tests(name: &str, least: usize) {
    let _turn = TURN.acquire().await.expect("it is never closed");
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let egress = Egress::listen(folder);
    let cluster = Cluster::real().nodes(1).api_server_flag(egress.flag());
    let started = cluster.own().named("deployed").start_or_skip().await;
    let Some(cluster) = started.expect("a real cluster, or none") else {
        return;
    };
    // The tests bring nodes of such names along; the operator's own Pod is on another.
    cluster.remove_node("node-1").await;
    cluster.add_node("host").await;
    let kubeconfig = cluster.kubeconfig().expect("it has an address");
    let ground = Ground::new(name, &kubeconfig).await;
    let archive = archive(name, folder);
    let image = format!("registry.example.com/{name}:1");
    ground.does("deploy", &["--image", &image]);
    let taints = json!([{"key": "kubewright.dev/host", "effect": "NoSchedule"}]);
    let patch = json!({"spec": {"taints": taints}});
    cluster.patch::<Node>("host", patch).await;

    let namespace = format!("{name}-system");
    let here = |one: &Value| one["metadata"]["namespace"] == namespace.as_str();
    let pod = only(&ground, ("Pod", "pods"), here).await;
    assert_eq!(pod["spec"]["containers"][0]["image"], image.as_str());
    let serves = |one: &Value| here(one) && one["spec"]["ports"][0]["port"] == 443;
    let service = only(&ground, ("Service", "services"), serves).await;
    let kubelet = Kubelet::prepare(ground.config(), pod, &archive, folder).await;
    let address = service["spec"]["clusterIP"].as_str().expect("an address");
    egress.lead(Route {
        service: format!("{address}:443"),
        process: kubelet.port(&service["spec"]["ports"][0]["targetPort"]),
    });
    let mut container = kubelet.start(folder);
    container.until_ready().await;

    let ran = run_tests(name, &ground).await;
    let said = container.said();
    assert!(!said.contains("orbidden"), "{said}");
    assert!(ran >= least, "only {ran} tests looked at it\n{said}");
    let status = container.stop().await;
    assert!(status.success(), "{status}");
    let gone = ground.does("undeploy", &[]);
    let deployment = format!("gone     Deployment {namespace}/{name}");
    assert!(gone.contains(&deployment), "{gone}");
    cluster.close().await.expect("it ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "builds a release and runs all tests of an operator"]
async fn mydaemonset_out_of_its_image_passes_its_tests_on_a_real_cluster() {
    a_deployed_operator_passes_its_tests("mydaemonset", 15).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "builds a release and runs all tests of an operator"]
async fn sidecarset_out_of_its_image_passes_its_tests_on_a_real_cluster() {
    a_deployed_operator_passes_its_tests("sidecarset", 15).await;
}

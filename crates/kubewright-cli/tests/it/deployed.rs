//! Operators that run from their images, as `image` builds and `deploy` deploys them.

use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::Node;
use kube::Api;
use kube::api::{DynamicObject, ListParams};
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::egress::{Egress, Route};
use super::kubelet::Kubelet;
use super::nested_build::{cargo, operator, succeeds, without_package_variables, workspace};
use super::target_cluster::TargetCluster;
use super::{kubewright, stderr, stdout};

/// The programs listen on the ports in their Deployments, so only one test may run at a time.
static ONE_AT_A_TIME: Semaphore = Semaphore::const_new(1);

/// The limit for the unpacked layers of MyDaemonSet's image.
const MAX_UNPACKED: u64 = 15_000_000;

/// Returns the archive that `image` builds for an operator.
fn archive(name: &str, folder: &Path) -> PathBuf {
    let archive = folder.join("image.tar");
    let mut command = kubewright(&["image", "--output", "json"]);
    command.arg(operator(name)).arg("--archive").arg(&archive);
    let output = succeeds(command, &workspace());
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let unpacked = result["unpackedBytes"].as_u64().expect("a size");
    assert!(name != "mydaemonset" || unpacked < MAX_UNPACKED, "{result}");
    archive
}

/// Returns the only object that matches.
async fn find_one(api: Api<DynamicObject>, matches: impl Fn(&Value) -> bool) -> Value {
    let list = api.list(&ListParams::default()).await.expect("a list");
    let mut matching: Vec<Value> = list
        .items
        .into_iter()
        .map(|object| serde_json::to_value(object).expect("JSON"))
        .filter(matches)
        .collect();
    assert_eq!(matching.len(), 1, "{matching:?}");
    matching.remove(0)
}

/// Runs the operator's own tests against the deployed operator and counts those that were not
/// skipped. Tests of the program itself, and of policies, do not use the deployed operator.
async fn run_tests(name: &str, cluster: &TargetCluster) -> usize {
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
    without_package_variables(&mut command);
    command
        .current_dir(workspace())
        .env("KUBEWRIGHT_TEST_CLUSTER", "existing")
        .env("KUBEWRIGHT_TEST_OPERATOR", "deployed")
        .env("KUBEWRIGHT_TEST_NODES", "simulated")
        .env("KUBEWRIGHT_TEST_TIMEOUT", "60")
        .env("KUBECONFIG", cluster.kubeconfig());
    let output = tokio::process::Command::from(command).output().await;
    let output = output.expect("cargo runs");
    let (stdout, stderr) = (stdout(&output), stderr(&output));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    let passed = stdout.lines().filter(|line| line.ends_with("... ok"));
    let skipped = stderr
        .lines()
        .filter(|line| line.starts_with("kubewright: skipped "));
    passed.count().saturating_sub(skipped.count())
}

/// Deploys an operator to a real cluster, runs the container of its Pod from the image, and runs
/// the operator's own tests against it. At least `minimum` of them must not be skipped.
async fn deployed_operator_passes_its_tests(name: &str, minimum: usize) {
    let _permit = ONE_AT_A_TIME.acquire().await.expect("it is never closed");
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let egress = Egress::listen(folder);
    let cluster = Cluster::real().nodes(1).api_server_flag(egress.flag());
    let started = cluster.dedicated().named("deployed").start_or_skip().await;
    let Some(cluster) = started.expect("a real cluster, or none") else {
        return;
    };
    // The tests add nodes with this name; the operator's own Pod runs on another node.
    cluster.remove_node("node-1").await;
    cluster.add_node("host").await;
    let kubeconfig = cluster.kubeconfig().expect("it has an address");
    let target = TargetCluster::new(name, &kubeconfig).await;
    let archive = archive(name, folder);
    let image = format!("registry.example.com/{name}:1");
    target.succeed("deploy", &["--image", &image]);
    let taints = json!([{"key": "kubewright.dev/host", "effect": "NoSchedule"}]);
    let patch = json!({"spec": {"taints": taints}});
    cluster.patch::<Node>("host", patch).await;

    let namespace = format!("{name}-system");
    let is_here = |object: &Value| object["metadata"]["namespace"] == namespace.as_str();
    let pod = find_one(target.api("", "v1", "Pod", "pods"), is_here).await;
    assert_eq!(pod["spec"]["containers"][0]["image"], image.as_str());
    let has_webhooks =
        |service: &Value| is_here(service) && service["spec"]["ports"][0]["port"] == 443;
    let services = target.api("", "v1", "Service", "services");
    let service = find_one(services, has_webhooks).await;
    let kubelet = Kubelet::prepare(target.config(), pod, &archive, folder).await;
    let address = service["spec"]["clusterIP"].as_str().expect("an address");
    egress.set_route(Route {
        service: format!("{address}:443"),
        process: kubelet.port(&service["spec"]["ports"][0]["targetPort"]),
    });
    let mut container = kubelet.start(folder);
    container.wait_until_ready().await;

    let count = run_tests(name, &target).await;
    let log = container.log();
    assert!(!log.contains("orbidden"), "{log}");
    assert!(count >= minimum, "only {count} tests ran\n{log}");
    let status = container.stop().await;
    assert!(status.success(), "{status}");
    let undeployed = target.succeed("undeploy", &[]);
    let deployment = format!("gone     Deployment {namespace}/{name}");
    assert!(undeployed.contains(&deployment), "{undeployed}");
    cluster.close().await.expect("it stops");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "builds a release and runs all tests of an operator"]
async fn mydaemonset_from_its_image_passes_its_tests_on_a_real_cluster() {
    deployed_operator_passes_its_tests("mydaemonset", 15).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "builds a release and runs all tests of an operator"]
async fn sidecarset_from_its_image_passes_its_tests_on_a_real_cluster() {
    deployed_operator_passes_its_tests("sidecarset", 15).await;
}

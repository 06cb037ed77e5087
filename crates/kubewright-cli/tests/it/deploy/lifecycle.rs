//! The whole life of an operator on an embedded and on a real cluster.

use std::fs;
use std::process::Command;

use kube::api::{Patch, PatchParams};
use kubewright_testing::Cluster;
use serde_json::json;

use super::kinds::install_and_uninstall_kinds;
use super::operator::deploy_and_undeploy_operator;
use crate::charts::chart_of;
use crate::cluster::ServedCluster;
use crate::nested_build::{operator, without_package_variables};
use crate::target_cluster::TargetCluster;
use crate::tools::kubectl;
use crate::{kubewright, stdout};

async fn run_all(cluster: &TargetCluster) {
    install_and_uninstall_kinds(cluster).await;
    deploy_and_undeploy_operator(cluster).await;
    apply_manifests_with_kubectl(cluster, "mydaemonset").await;
    apply_manifests_with_kubectl(cluster, "sidecarset").await;
}

#[tokio::test]
async fn operator_is_installed_deployed_and_removed_on_the_embedded_cluster() {
    let served = ServedCluster::start(2);
    let cluster = TargetCluster::new("mydaemonset", served.kubeconfig()).await;
    run_all(&cluster).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn operator_is_installed_deployed_and_removed_on_a_real_cluster() {
    let started = Cluster::real()
        .nodes(1)
        .dedicated()
        .named("deploy")
        .start_or_skip()
        .await;
    let Some(real) = started.expect("a real cluster, or none") else {
        return;
    };
    let kubeconfig = real.kubeconfig().expect("it has an address");
    let cluster = TargetCluster::new("mydaemonset", &kubeconfig).await;
    run_all(&cluster).await;
    real.close().await.expect("it stops");
}

/// `kubectl apply --dry-run=server` accepts the manifests of an operator, and its chart.
async fn apply_manifests_with_kubectl(cluster: &TargetCluster, name: &str) {
    let Some(kubectl) = kubectl().await else {
        return;
    };
    // A dry run does not create the namespace, which the other objects need.
    let namespace = format!("{name}-system");
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    let namespaces = cluster.api("", "v1", "Namespace", "namespaces");
    let as_test = PatchParams::apply("test").force();
    let applied = namespaces
        .patch(&namespace, &as_test, &Patch::Apply(&object))
        .await;
    applied.expect("the namespace is stored");

    let mut command = kubewright(&["manifests"]);
    without_package_variables(&mut command);
    command.arg(operator(name));
    command.args(["--image", "registry.example.com/operator:1"]);
    let output = command.output().expect("the command runs");
    assert!(output.status.success(), "{output:?}");
    let chart = chart_of(name).await;
    for text in [Some(stdout(&output)), chart].into_iter().flatten() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("manifests.yaml");
        fs::write(&file, &text).expect("a file");
        let applied = Command::new(&kubectl)
            .args(["apply", "--dry-run=server", "--kubeconfig"])
            .arg(cluster.kubeconfig())
            .arg("-f")
            .arg(&file)
            .output()
            .expect("kubectl runs");
        assert!(applied.status.success(), "{name}: {applied:?}\n{text}");
    }
}

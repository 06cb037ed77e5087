//! `kubewright dev --once` on each cluster.

use std::fs;

use serde_json::{Value, json};

use super::cluster::ServedCluster;
use super::nested_build::{operator, succeeds, workspace};
use super::tools::kubectl;
use super::{error_of, kubewright, stdout};

/// Returns the output of `dev --once` for an operator of the workspace.
fn once(name: &str, flags: &[&str]) -> String {
    once_with(name, flags, &[])
}

/// Returns the output of `dev --once` with these environment variables.
fn once_with(name: &str, flags: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = kubewright(&["dev", "--once"]);
    command.arg(operator(name)).args(flags);
    command.envs(variables.iter().copied());
    stdout(&succeeds(command, &workspace()))
}

/// Whether a line of a table starts with these cells.
fn has_row(printed: &str, cells: &[&str]) -> bool {
    let mut lines = printed.lines().map(|line| line.split_whitespace());
    lines.any(|line| line.collect::<Vec<_>>().starts_with(cells))
}

/// Checks that there is a Pod on each node, and that the sample is ready.
fn check_mydaemonset(printed: &str, nodes: usize) {
    for node in 1..=nodes {
        let row = format!("node-{node}   Running   true");
        assert!(printed.contains(&row), "{printed}");
    }
    let sample = ["MyDaemonSet", "default/sample", "Available=True"];
    assert!(
        has_row(printed, &["KIND", "NAME", "CONDITIONS"]),
        "{printed}"
    );
    assert!(has_row(printed, &sample), "{printed}");
    let ready = "ready: MyDaemonSet default/sample";
    assert!(printed.contains(ready), "{printed}");
}

#[test]
fn workspace_operators_are_ready_on_the_embedded_cluster() {
    check_mydaemonset(&once("mydaemonset", &[]), 3);
    let printed = once("sidecarset", &[]);
    assert!(printed.contains("ready: SidecarSet "), "{printed}");
    assert!(!printed.contains("not ready: "), "{printed}");
}

#[test]
fn operator_is_ready_on_the_cluster_of_a_kubeconfig() {
    let served = ServedCluster::start(2);
    let kubeconfig = served.kubeconfig().to_str().expect("a path in UTF-8");
    check_mydaemonset(&once("mydaemonset", &["--kubeconfig", kubeconfig]), 2);
}

/// Nothing listens at the address of the proxy.
#[test]
fn proxy_is_not_used_for_a_cluster_on_loopback() {
    let proxy = ("HTTPS_PROXY", "http://127.0.0.1:9");
    let one_node = ["--nodes", "1"];
    check_mydaemonset(&once_with("mydaemonset", &one_node, &[proxy]), 1);
    let lower = ("https_proxy", "http://127.0.0.1:9");
    let variables = [lower, ("NO_PROXY", "*")];
    let served = ServedCluster::start(1);
    let kubeconfig = served.kubeconfig().to_str().expect("a path in UTF-8");
    let flags = ["--kubeconfig", kubeconfig];
    check_mydaemonset(&once_with("mydaemonset", &flags, &variables), 1);
}

#[test]
fn json_output_has_samples_objects_and_pods() {
    let printed = once("mydaemonset", &["--nodes", "1", "--output", "json"]);
    let result: Value = serde_json::from_str(&printed).expect("one JSON value");
    let sample = json!({"sample": "MyDaemonSet default/sample", "ready": true, "missing": null});
    assert_eq!(result["samples"], json!([sample]));
    assert_eq!(result["pods"][0]["node"], "node-1");
    assert_eq!(result["pods"][0]["ready"], true);
    assert_eq!(result["objects"][0]["kind"], "MyDaemonSet");
    let output = kubewright(&["dev", "--output", "json"]).output();
    let error = error_of(&output.expect("the command runs"));
    assert!(error.contains("--once as well"), "{error}");
}

#[tokio::test]
async fn operator_is_ready_on_a_real_cluster_that_dev_starts() {
    // Where kubectl is missing, so is the rest of the control plane.
    if kubectl().await.is_some() {
        let flags = ["--cluster", "real", "--nodes", "2", "--timeout", "180"];
        check_mydaemonset(&once("mydaemonset", &flags), 2);
    }
}

#[test]
fn error_names_a_missing_folder() {
    let output = kubewright(&["dev", "no-such-folder", "--once"])
        .output()
        .expect("it runs");
    let error = error_of(&output);
    assert!(error.contains("no-such-folder"), "{error}");
}

#[test]
fn package_without_a_program_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = "[package]\nname = 'library'\nedition = '2024'\n[workspace]\n";
    fs::write(folder.path().join("Cargo.toml"), manifest).expect("a manifest");
    fs::create_dir(folder.path().join("src")).expect("a folder");
    fs::write(folder.path().join("src/lib.rs"), "").expect("a source");
    let path = folder.path().to_str().expect("a path in UTF-8");
    let output = kubewright(&["dev", path, "--once"])
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .expect("it runs");
    let error = error_of(&output);
    assert!(
        error.contains("builds 0 programs, it must build one"),
        "{error}"
    );
}

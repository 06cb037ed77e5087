use std::fs;

use serde_json::{Value, json};

use super::cluster::Served;
use super::flow::{succeeds, workspace};
use super::{complaint, kubewright, ship};

/// What `dev --once` prints of an operator of the workspace's when its samples are ready.
fn once(operator: &str, flags: &[&str]) -> String {
    once_with(operator, flags, &[])
}

/// The same with these variables in the environment.
fn once_with(operator: &str, flags: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = kubewright(&["dev", "--once"]);
    command.arg(ship::operator(operator)).args(flags);
    command.envs(variables.iter().copied());
    let output = succeeds(command, &workspace());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Whether a line of a table has these cells, in this order.
fn has_row(printed: &str, cells: &[&str]) -> bool {
    let mut lines = printed.lines().map(|line| line.split_whitespace());
    lines.any(|line| line.collect::<Vec<_>>().starts_with(cells))
}

/// A Pod on each node, and the sample with its conditions.
fn shows_mydaemonset(printed: &str, nodes: usize) {
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
fn the_operators_of_this_workspace_are_ready_on_the_embedded_cluster() {
    shows_mydaemonset(&once("mydaemonset", &[]), 3);
    let printed = once("sidecarset", &[]);
    assert!(printed.contains("ready: SidecarSet "), "{printed}");
    assert!(!printed.contains("not ready: "), "{printed}");
}

#[test]
fn an_operator_is_ready_on_the_cluster_of_a_kubeconfig() {
    let served = Served::start(2);
    let kubeconfig = served.kubeconfig().to_str().expect("a path in UTF-8");
    shows_mydaemonset(&once("mydaemonset", &["--kubeconfig", kubeconfig]), 2);
}

/// Nothing listens where the proxy should be.
#[test]
fn proxy_of_the_environment_is_not_used_for_a_cluster_on_loopback() {
    let proxy = ("HTTPS_PROXY", "http://127.0.0.1:9");
    let one_node = ["--nodes", "1"];
    shows_mydaemonset(&once_with("mydaemonset", &one_node, &[proxy]), 1);
    let lower = ("https_proxy", "http://127.0.0.1:9");
    let variables = [lower, ("NO_PROXY", "*")];
    let served = Served::start(1);
    let kubeconfig = served.kubeconfig().to_str().expect("a path in UTF-8");
    let flags = ["--kubeconfig", kubeconfig];
    shows_mydaemonset(&once_with("mydaemonset", &flags, &variables), 1);
}

#[test]
fn a_script_reads_what_is_there_when_all_is_ready() {
    let answer = once("mydaemonset", &["--nodes", "1", "--output", "json"]);
    let answer: Value = serde_json::from_str(&answer).expect("one JSON value");
    let sample = json!({"sample": "MyDaemonSet default/sample", "ready": true, "missing": null});
    assert_eq!(answer["samples"], json!([sample]));
    assert_eq!(answer["pods"][0]["node"], "node-1");
    assert_eq!(answer["pods"][0]["ready"], true);
    assert_eq!(answer["objects"][0]["kind"], "MyDaemonSet");
    let output = kubewright(&["dev", "--output", "json"]).output();
    let said = complaint(&output.expect("the command runs"));
    assert!(said.contains("--once beside it"), "{said}");
}

#[tokio::test]
async fn an_operator_is_ready_on_a_real_cluster_made_for_it() {
    // Without the real control plane this says so, and there is nothing to hold.
    if ship::kubectl().await.is_some() {
        let flags = ["--cluster", "real", "--nodes", "2", "--timeout", "180"];
        shows_mydaemonset(&once("mydaemonset", &flags), 2);
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let output = kubewright(&["dev", "no-such-folder", "--once"])
        .output()
        .expect("it runs");
    let complaint = complaint(&output);
    assert!(complaint.contains("no-such-folder"), "{complaint}");
}

#[test]
fn a_package_that_builds_no_program_is_told_so() {
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
    let complaint = complaint(&output);
    assert!(
        complaint.contains("builds 0 programs, one is needed"),
        "{complaint}"
    );
}

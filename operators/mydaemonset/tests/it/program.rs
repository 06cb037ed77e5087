//! The program as a user calls it.

use std::process::{Command, Output};

fn program(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mydaemonset"))
        .args(arguments)
        .env_remove("KUBECONFIG")
        .env_remove("RUST_LOG")
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `UPDATE_EXPECT=1` writes the file anew.
#[test]
fn the_manifests_are_those_on_file() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/manifests.yaml");
    let output = program(&["manifests"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(file, &output.stdout).expect("the file can be written");
    }
    let expected = std::fs::read_to_string(file).expect("the file is there");
    assert_eq!(text(&output.stdout), expected);
}

#[test]
fn another_namespace_moves_the_account_and_its_binding() {
    let output = text(&program(&["manifests", "--namespace", "tools"]).stdout);
    // The account, its binding, the Service of the webhook and its configuration.
    assert_eq!(output.matches("namespace: tools\n").count(), 4, "{output}");
    assert!(!output.contains("mydaemonset-system"), "{output}");
}

#[test]
fn without_webhooks_nothing_makes_the_api_server_call() {
    let output = program(&["manifests", "--no-webhooks", "--image", "m:1"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = text(&output.stdout);
    assert!(!output.contains("WebhookConfiguration"), "{output}");
    assert!(!output.contains("mydaemonset-webhook"), "{output}");
    assert!(output.contains("--no-webhooks"), "{output}");
}

#[test]
fn a_namespace_that_no_cluster_takes_is_refused() {
    let output = program(&["manifests", "--namespace", "My Tools"]);
    assert_eq!(output.status.code(), Some(1));
    let complaint = text(&output.stderr);
    assert!(
        complaint.contains("name the namespace \"My Tools\""),
        "{complaint}"
    );
}

#[test]
fn the_version_is_the_crates() {
    let output = program(&["version"]);
    let expected = concat!("mydaemonset ", env!("CARGO_PKG_VERSION"), "\n");
    assert!(text(&output.stdout).starts_with(expected));
}

#[test]
fn a_wrong_call_ends_with_2_and_a_wrong_cluster_with_1() {
    let output = program(&["manifest"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("manifests"),
        "{}",
        text(&output.stderr)
    );
    let output = program(&["run", "--kubeconfig", "not-there.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    let complaint = text(&output.stderr);
    assert!(complaint.starts_with("mydaemonset: "), "{complaint}");
    assert!(complaint.contains("not-there.yaml"), "{complaint}");
}

#[test]
fn a_flag_before_the_subcommand_is_not_lost() {
    let output = program(&["--kubeconfig", "not-there.yaml", "run"]);
    let complaint = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(complaint.contains("run"), "{complaint}");
}

//! The command line of the program.

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

/// `UPDATE_EXPECT=1` rewrites the file.
#[test]
fn manifests_match_the_golden_file() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/manifests.yaml");
    let output = program(&["manifests"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(file, &output.stdout).expect("write the file");
    }
    let expected = std::fs::read_to_string(file).expect("read the file");
    assert_eq!(text(&output.stdout), expected);
}

#[test]
fn namespace_flag_moves_the_account_and_its_binding() {
    let output = text(&program(&["manifests", "--namespace", "tools"]).stdout);
    // The ServiceAccount, its binding, the Service of the webhook and the webhook configuration.
    assert_eq!(output.matches("namespace: tools\n").count(), 4, "{output}");
    assert!(!output.contains("mydaemonset-system"), "{output}");
}

#[test]
fn no_webhooks_flag_omits_the_webhook_configuration() {
    let output = program(&["manifests", "--no-webhooks", "--image", "m:1"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = text(&output.stdout);
    assert!(!output.contains("WebhookConfiguration"), "{output}");
    assert!(!output.contains("mydaemonset-webhook"), "{output}");
    assert!(output.contains("--no-webhooks"), "{output}");
}

#[test]
fn invalid_namespace_exits_with_1() {
    let output = program(&["manifests", "--namespace", "My Tools"]);
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert!(
        message.contains("name the namespace \"My Tools\""),
        "{message}"
    );
}

#[test]
fn version_is_that_of_the_crate() {
    let output = program(&["version"]);
    let expected = concat!("mydaemonset ", env!("CARGO_PKG_VERSION"), "\n");
    assert!(text(&output.stdout).starts_with(expected));
}

#[test]
fn invalid_command_exits_with_2_and_missing_kubeconfig_with_1() {
    let output = program(&["manifest"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("manifests"),
        "{}",
        text(&output.stderr)
    );
    let output = program(&["run", "--kubeconfig", "not-there.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert!(message.starts_with("mydaemonset: "), "{message}");
    assert!(message.contains("not-there.yaml"), "{message}");
}

#[test]
fn flag_before_the_subcommand_exits_with_2() {
    let output = program(&["--kubeconfig", "not-there.yaml", "run"]);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("run"), "{message}");
}

//! From an empty folder to a running operator, with commands alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;

use super::cluster::ServedCluster;
use super::dev_process::DevProcess;
use super::nested_build::{cargo, lock, prepare, succeeds, without_package_variables, workspace};
use super::{error_of, kubewright, stderr, stdout};

/// Returns a call of the command with the words of a line.
fn call(line: &str) -> Command {
    kubewright(&line.split(' ').collect::<Vec<_>>())
}

/// Creates a project in the folder that depends on the workspace.
fn init(folder: &Path, flags: &[&str]) {
    fs::create_dir(folder).expect("a folder");
    let mut init = call("init --kubewright-path");
    init.arg(workspace()).args(flags);
    succeeds(init, folder);
    lock(folder);
}

/// Replaces a part of a source file, which must exist.
fn edit(file: PathBuf, old: &str, new: &str) {
    let text = fs::read_to_string(&file).expect("the source");
    let changed = text.replace(old, new);
    assert_ne!(text, changed);
    fs::write(&file, changed).expect("the source is saved");
}

/// Waits until the ConfigMap of the sample has the message.
async fn config_map_with(client: &kube::Client, message: &str) -> ConfigMap {
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let polling = async {
        loop {
            let map = maps.get_opt("site-sample").await.expect("a response");
            let current = map
                .as_ref()
                .and_then(|map| map.data.as_ref()?.get("message"));
            if current.is_some_and(|current| current == message) {
                return map.expect("the map that was just read");
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let within = tokio::time::timeout(Duration::from_secs(15), polling);
    within.await.expect("the message in time")
}

/// A saved change restarts the operator on the same cluster with the same objects.
async fn saved_change_restarts_the_operator(folder: &Path) {
    let mut dev = DevProcess::start(folder);
    let client = dev.client().await;
    dev.wait_for("applied: Site");
    let before = config_map_with(&client, "Hello").await;
    edit(
        folder.join("src/site.rs"),
        "object.spec.message.clone()",
        "object.spec.message.to_uppercase()",
    );
    dev.wait_for("restarted");
    let after = config_map_with(&client, "HELLO").await;
    assert_eq!(after.metadata.uid, before.metadata.uid);
}

/// An operator that writes a different status each time is not ready, although the status is.
fn reconcile_loop_is_not_ready(folder: &Path) {
    edit(
        folder.join("src/site.rs"),
        "\"the ConfigMap has the message\"",
        "&format!(\"{:?}\", std::time::SystemTime::now())",
    );
    let mut command = call("dev --once");
    without_package_variables(&mut command);
    let output = command.current_dir(folder).output().expect("it runs");
    let error = error_of(&output);
    let report = "reconcile of default/site-sample by controller site triggers itself: 100 runs";
    assert!(error.contains(report), "{error}");
    let field = "sites/site-sample/status (status.conditions[0].message: ";
    assert!(error.contains(field), "{error}");
    // Without --once it is only a warning.
    let mut dev = DevProcess::start(folder);
    dev.wait_for(&format!("warning: the {report}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn new_project_passes_its_tests_and_runs() {
    let home = tempfile::tempdir().expect("a folder");
    prepare(home.path());
    let folder = home.path().join("flow-of-commands");
    init(&folder, &[]);
    for line in [
        "create api --group web --version v1 --kind Site",
        "create webhook --kind Site --defaulting --validation",
    ] {
        succeeds(call(line), &folder);
    }
    succeeds(cargo(&["fmt", "--check"]), &folder);
    let tested = stdout(&succeeds(cargo(&["test", "--quiet"]), &folder));
    assert_eq!(tested.matches("2 passed").count(), 2, "{tested}");
    let once = stdout(&succeeds(call("dev --once"), &folder));
    assert!(once.contains("ready: Site default/site-sample"), "{once}");
    saved_change_restarts_the_operator(&folder).await;
    reconcile_loop_is_not_ready(&folder);
}

/// The cluster keeps running when the process of the operator dies, which also serves the
/// conversion of the kind.
async fn cluster_survives_its_operator(folder: &Path) {
    let mut dev = DevProcess::start(folder);
    let client = dev.client().await;
    dev.wait_for("running; restarts when a file is saved");
    dev.kill_operator();
    dev.wait_for("the operator exited with signal: 9 (SIGKILL)");
    dev.wait_for("stopped, the cluster keeps running");
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let before = maps.get("site-sample").await.expect("the cluster serves");
    let source = folder.join("src/site.rs");
    let text = fs::read_to_string(&source).expect("the source");
    fs::write(&source, text + "\n").expect("the source is saved");
    dev.wait_for("restarted");
    let request = |version: &str| {
        let path = format!("/apis/web.example.com/{version}/namespaces/default/sites/site-sample");
        http::Request::get(path)
            .body(Vec::new())
            .expect("a request")
    };
    for version in ["v1", "v2"] {
        let response = client.request_text(request(version)).await;
        assert!(response.expect("it is converted").contains("Hello"));
    }
    let after = maps.get("site-sample").await.expect("the cluster serves");
    assert_eq!(after.metadata.uid, before.metadata.uid);
}

#[tokio::test(flavor = "multi_thread")]
async fn kind_in_two_versions_passes_its_tests_and_runs() {
    let home = tempfile::tempdir().expect("a folder");
    prepare(home.path());
    let folder = home.path().join("flow-of-versions");
    init(&folder, &[]);
    for version in ["v1", "v2"] {
        let line = format!("create api --group web --kind Site --version {version}");
        succeeds(call(&line), &folder);
    }
    succeeds(cargo(&["fmt", "--check"]), &folder);
    let tested = stdout(&succeeds(cargo(&["test", "--quiet"]), &folder));
    assert!(tested.contains("3 passed"), "{tested}");
    let once = stdout(&succeeds(call("dev --once"), &folder));
    for sample in ["site-sample", "site-sample-v2"] {
        let line = format!("ready: Site default/{sample}");
        assert!(once.contains(&line), "{once}");
    }
    cluster_survives_its_operator(&folder).await;
}

/// A command of kubebuilder that has another name here is an error with that name; others work.
fn kubebuilder_commands_are_translated(folder: &Path) {
    for (typed, replacement) in [
        ("edit --multigroup=true", "kubewright create api --group"),
        (
            "alpha webhook --type=mutating --operations=create --group core --version v1 --kind Pod",
            "kubewright create webhook --defaulting --operations create --group core",
        ),
    ] {
        let output = call(typed).current_dir(folder).output().expect("it runs");
        let error = error_of(&output);
        assert!(error.contains(replacement), "{typed}: {error}");
    }
    for typed in ["completion bash", "version", "help"] {
        let output = succeeds(call(typed), folder);
        assert!(!output.stdout.is_empty(), "{typed}");
    }
}

/// Each target of kubebuilder's Makefile, in its order, has a command line.
fn make_targets_have_replacements(folder: &Path) {
    let manifests = stdout(&succeeds(call("manifests"), folder));
    for definition in ["sites", "zones", "notes"] {
        let name = format!("name: {definition}.web.example.com");
        assert!(manifests.contains(&name), "{name} in\n{manifests}");
    }
    succeeds(cargo(&["fmt", "--check"]), folder);
    check_finds_unused_permissions(folder);
    lint(folder);
    succeeds(cargo(&["test", "--quiet"]), folder);
    succeeds(cargo(&["build", "--quiet"]), folder);
    let once = stdout(&succeeds(call("dev --once"), folder));
    for sample in [
        "Site default/site-sample",
        "Zone zone-sample",
        "Note default/note-sample",
    ] {
        assert!(once.contains(&format!("ready: {sample}")), "{once}");
    }
    // With the profile of the earlier builds, because a release build would take minutes.
    succeeds(call("image --archive image.tar --profile dev"), folder);
    assert!(folder.join("image.tar").is_file());
}

/// The tests of the scaffold never delete an owned ConfigMap; there is no other finding.
fn check_finds_unused_permissions(folder: &Path) {
    let mut command = call("check --tests");
    without_package_variables(&mut command);
    let output = command.current_dir(folder).output().expect("it runs");
    let error = error_of(&output);
    let findings = stdout(&output);
    let unused = "/configmaps: delete is granted and no test used it";
    assert!(findings.contains(unused), "{findings}\n{error}");
    let mut lines = findings.lines().filter(|line| !line.trim().is_empty());
    assert!(lines.all(|line| line.starts_with("unused: ")), "{findings}");
    succeeds(call("check --tests --allow unused"), folder);
}

/// Runs clippy on the project alone: `cargo clippy` would check each dependency again.
fn lint(folder: &Path) {
    let mut command = cargo(&["build", "--quiet", "--all-targets"]);
    command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    let messages = stderr(&succeeds(command, folder));
    assert!(!messages.contains("warning"), "{messages}");
}

fn project_is_deployed_and_removed(folder: &Path) {
    let served = ServedCluster::start(1);
    let kubeconfig = served.kubeconfig().to_str().expect("a path in UTF-8");
    for (line, expected) in [
        (
            "install",
            "ready    CustomResourceDefinition sites.web.example.com",
        ),
        (
            "deploy --image r.example.com/seeds:1",
            "ready    Deployment flow-of-seeds-system/flow-of-seeds",
        ),
        (
            "undeploy",
            "gone     Deployment flow-of-seeds-system/flow-of-seeds",
        ),
        (
            "uninstall",
            "gone     CustomResourceDefinition notes.web.example.com",
        ),
    ] {
        let mut command = call(line);
        command.args(["--kubeconfig", kubeconfig]);
        let printed = stdout(&succeeds(command, folder));
        assert!(printed.contains(expected), "{line}: {printed}");
    }
}

/// The commands and make targets of kubebuilder, in its order, on one project: a kind, one without
/// a namespace, one without a controller, a built-in kind with a controller, and webhooks for a
/// kind of the project and for a built-in one.
#[test]
fn commands_of_kubebuilder_have_replacements_on_one_project() {
    let home = tempfile::tempdir().expect("a folder");
    prepare(home.path());
    let folder = home.path().join("flow-of-seeds");
    init(&folder, &["--domain", "example.com"]);
    for line in [
        "create api --group web --version v1 --kind Site",
        "create api --group web --version v1 --kind Zone --namespaced=false",
        "create api --group web --version v1 --kind Note --controller=false",
        "create api --group apps --version v1 --kind Deployment --resource=false",
        "create api --group apps --version v1beta1 --kind MyDaemonSet",
        "create webhook --group apps --version v1beta1 --kind MyDaemonSet --defaulting --programmatic-validation",
        "create webhook --kind Site --defaulting --programmatic-validation",
        "create webhook --group core --version v1 --kind Pod --defaulting --operations create",
    ] {
        succeeds(call(line), &folder);
    }
    kubebuilder_commands_are_translated(&folder);
    make_targets_have_replacements(&folder);
    project_is_deployed_and_removed(&folder);
}

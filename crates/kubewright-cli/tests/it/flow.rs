//! From an empty folder to an operator that runs, by the commands alone.

use std::fs;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Config};
use kubewright_testing::package_variables;
use rustix::process::{Pid, Signal, kill_process};

use super::kubewright;

/// The workspace's own folder.
pub(super) fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("../..").canonicalize().expect("the workspace")
}

/// The workspace's settings for nested builds: its target folder and versions, so that what is
/// compiled already is not compiled again.
pub(super) fn prepare(folder: &Path) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("the target folder");
    let settings = folder.join(".cargo");
    fs::create_dir_all(&settings).expect("a folder");
    let mut config = format!("[build]\ntarget-dir = {target:?}\n[net]\noffline = true\n");
    for (package, level) in [("serde_json", 2), ("miniz_oxide", 3), ("ring", 3)] {
        config += &format!("[profile.dev.package.{package}]\nopt-level = {level}\n");
    }
    fs::write(settings.join("config.toml"), config).expect("the settings");
}

pub(super) fn lock(project: &Path) {
    fs::copy(workspace().join("Cargo.lock"), project.join("Cargo.lock")).expect("the lock file");
}

/// Drops what cargo tells the test about its own package: a nested build would compile things
/// again.
pub(super) fn of_this_package(command: &mut Command) {
    for name in package_variables() {
        command.env_remove(name);
    }
}

pub(super) fn succeeds(mut command: Command, folder: &Path) -> Output {
    of_this_package(&mut command);
    let output = command.current_dir(folder).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{command:?}\n{printed}\n{said}");
    output
}

pub(super) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments);
    command
}

/// `kubewright dev` at work; it ends with the test.
struct Dev {
    child: Child,
    said: Lines<BufReader<ChildStderr>>,
}

impl Dev {
    fn start(folder: &Path) -> Self {
        let mut command = kubewright(&["dev"]);
        of_this_package(&mut command);
        let mut child = command
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        Self { child, said }
    }

    /// Reads on until a line with this part.
    fn says(&mut self, part: &str) -> String {
        let mut lines = Vec::new();
        let mut said = (&mut self.said).map(|line| line.expect("text"));
        let found = said.find(|line| {
            lines.push(line.clone());
            line.contains(part)
        });
        assert!(found.is_some(), "{part} is not among\n{}", lines.join("\n"));
        found.unwrap_or_default()
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        pid.map(|pid| kill_process(pid, Signal::INT).ok());
        self.child.wait().ok();
    }
}

/// The sample's ConfigMap once it says this; the time runs from now.
async fn map_saying(client: &kube::Client, text: &str) -> ConfigMap {
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let says = async {
        loop {
            let map = maps
                .get_opt("site-sample")
                .await
                .expect("the server answers");
            let message = map
                .as_ref()
                .and_then(|map| map.data.as_ref()?.get("message"));
            if message.is_some_and(|message| message == text) {
                return map.expect("the map that was just read");
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let within = tokio::time::timeout(Duration::from_secs(15), says);
    within.await.expect("a ConfigMap that says it in time")
}

/// A saved change of `reconcile` works soon, on the same cluster with the same objects.
async fn a_saved_change_is_seen_on_the_same_cluster(folder: &Path) {
    let mut dev = Dev::start(folder);
    let line = dev.says("kubectl --kubeconfig ");
    let path = line.split(' ').nth(3).expect("a path").to_owned();
    let read = Kubeconfig::read_from(&path).expect("a kubeconfig");
    let config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await;
    let client = kube::Client::try_from(config.expect("a configuration")).expect("a client");
    dev.says("applied: Site");
    let before = map_saying(&client, "Hello").await;

    let source = folder.join("src/site.rs");
    let text = fs::read_to_string(&source).expect("the source");
    let changed = text.replace(
        "object.spec.message.clone()",
        "object.spec.message.to_uppercase()",
    );
    assert_ne!(text, changed);
    fs::write(&source, changed).expect("the source is saved");
    dev.says("restarted");
    let after = map_saying(&client, "HELLO").await;
    assert_eq!(after.metadata.uid, before.metadata.uid);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_folder_becomes_a_tested_operator_that_runs() {
    let home = tempfile::tempdir().expect("a folder");
    prepare(home.path());
    let folder = home.path().join("flow-of-commands");
    fs::create_dir(&folder).expect("a folder");
    let sources = workspace();
    let sources = sources.to_str().expect("a path in UTF-8");
    succeeds(kubewright(&["init", "--kubewright-path", sources]), &folder);
    lock(&folder);
    let api = [
        "create",
        "api",
        "--group",
        "web",
        "--version",
        "v1",
        "--kind",
        "Site",
    ];
    succeeds(kubewright(&api), &folder);
    let parts = ["--defaulting", "--validation"];
    succeeds(
        kubewright(&[&["create", "webhook", "--kind", "Site"], &parts[..]].concat()),
        &folder,
    );
    succeeds(cargo(&["fmt", "--check"]), &folder);
    let tested = succeeds(cargo(&["test", "--quiet"]), &folder);
    let tested = String::from_utf8_lossy(&tested.stdout).into_owned();
    assert_eq!(tested.matches("2 passed").count(), 2, "{tested}");
    let once = succeeds(kubewright(&["dev", "--once"]), &folder);
    let once = String::from_utf8_lossy(&once.stdout).into_owned();
    assert!(once.contains("ready: Site default/site-sample"), "{once}");
    a_saved_change_is_seen_on_the_same_cluster(&folder).await;
}

/// A second version is served, converted and tested without an edit by hand.
#[tokio::test(flavor = "multi_thread")]
async fn a_kind_in_two_versions_is_tested_and_runs() {
    let home = tempfile::tempdir().expect("a folder");
    prepare(home.path());
    let folder = home.path().join("flow-of-versions");
    fs::create_dir(&folder).expect("a folder");
    let sources = workspace();
    let sources = sources.to_str().expect("a path in UTF-8");
    succeeds(kubewright(&["init", "--kubewright-path", sources]), &folder);
    lock(&folder);
    for version in ["v1", "v2"] {
        let api = ["create", "api", "--group", "web", "--kind", "Site"];
        let api = [&api[..], &["--version", version]].concat();
        succeeds(kubewright(&api), &folder);
    }
    succeeds(cargo(&["fmt", "--check"]), &folder);
    let tested = succeeds(cargo(&["test", "--quiet"]), &folder);
    let tested = String::from_utf8_lossy(&tested.stdout).into_owned();
    assert!(tested.contains("3 passed"), "{tested}");
    let once = succeeds(kubewright(&["dev", "--once"]), &folder);
    let once = String::from_utf8_lossy(&once.stdout).into_owned();
    for sample in ["site-sample", "site-sample-v2"] {
        let line = format!("ready: Site default/{sample}");
        assert!(once.contains(&line), "{once}");
    }
}

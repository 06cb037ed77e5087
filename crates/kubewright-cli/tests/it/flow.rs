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

use super::cluster::Served;
use super::{complaint, kubewright};

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

    /// A client for its cluster.
    async fn client(&mut self) -> kube::Client {
        let line = self.says("kubectl --kubeconfig ");
        let path = line.split(' ').nth(3).expect("a path").to_owned();
        let read = Kubeconfig::read_from(&path).expect("a kubeconfig");
        let config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await;
        kube::Client::try_from(config.expect("a configuration")).expect("a client")
    }

    /// Ends the operator's process, as a lack of memory would.
    fn kill_operator(&self) {
        let listed = Command::new("ps").args(["-axo", "ppid=,pid="]).output();
        let listed = String::from_utf8(listed.expect("ps runs").stdout).expect("text");
        let rows = listed.lines().filter_map(|line| {
            let mut numbers = line.split_whitespace().map(str::parse::<i32>);
            Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
        });
        let dev = i32::try_from(self.child.id()).expect("a process");
        let of_dev: Vec<i32> = rows.filter(|row| row.0 == dev).map(|row| row.1).collect();
        let [operator] = of_dev.try_into().expect("one process of dev's");
        let operator = Pid::from_raw(operator).expect("a process");
        kill_process(operator, Signal::KILL).expect("it is ended");
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
    let client = dev.client().await;
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

/// A status that differs each time, and says that the object is ready.
fn a_reconcile_that_wakes_itself_is_not_ready(folder: &Path) {
    let source = folder.join("src/site.rs");
    let text = fs::read_to_string(&source).expect("the source");
    let changed = text.replace(
        "\"the ConfigMap says the message\"",
        "&format!(\"{:?}\", std::time::SystemTime::now())",
    );
    assert_ne!(text, changed);
    fs::write(&source, changed).expect("the source is saved");
    let mut command = kubewright(&["dev", "--once"]);
    of_this_package(&mut command);
    let output = command.current_dir(folder).output().expect("it runs");
    let said = complaint(&output);
    let report = "reconcile of default/site-sample by controller site triggers itself: 100 runs";
    assert!(said.contains(report), "{said}");
    let field = "sites/site-sample/status (status.conditions[0].message: ";
    assert!(said.contains(field), "{said}");
    // Without --once it is a warning.
    let mut dev = Dev::start(folder);
    dev.says(&format!("warning: the {report}"));
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
    a_reconcile_that_wakes_itself_is_not_ready(&folder);
}

/// Nothing converts the kind until the operator runs again.
async fn a_cluster_outlives_its_operator(folder: &Path) {
    let mut dev = Dev::start(folder);
    let client = dev.client().await;
    dev.says("running; a saved change starts it anew");
    dev.kill_operator();
    dev.says("the operator ended by itself, with signal: 9 (SIGKILL)");
    dev.says("stopped, the cluster stays");
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let before = maps.get("site-sample").await.expect("the cluster serves");
    let source = folder.join("src/site.rs");
    let text = fs::read_to_string(&source).expect("the source");
    fs::write(&source, text + "\n").expect("the source is saved");
    dev.says("restarted");
    let request = |version: &str| {
        let path = format!("/apis/web.example.com/{version}/namespaces/default/sites/site-sample");
        http::Request::get(path)
            .body(Vec::new())
            .expect("a request")
    };
    for version in ["v1", "v2"] {
        let read = client.request_text(request(version)).await;
        assert!(read.expect("it is converted").contains("Hello"));
    }
    let after = maps.get("site-sample").await.expect("the cluster serves");
    assert_eq!(after.metadata.uid, before.metadata.uid);
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
    a_cluster_outlives_its_operator(&folder).await;
}

/// The words of a line of ours.
fn line(words: &str) -> Command {
    kubewright(&words.split(' ').collect::<Vec<_>>())
}

/// What kubebuilder's users type and we have under another name: answered, nothing changed.
fn former_words_are_answered(folder: &Path) {
    for (typed, ours) in [
        ("edit --multigroup=true", "kubewright create api --group"),
        (
            "alpha webhook --type=mutating --operations=create --group core --version v1 --kind Pod",
            "kubewright create webhook --defaulting --operations create --group core",
        ),
    ] {
        let output = line(typed).current_dir(folder).output().expect("it runs");
        let said = complaint(&output);
        assert!(said.contains(ours), "{typed}: {said}");
    }
    for typed in ["completion bash", "version", "help"] {
        let output = succeeds(line(typed), folder);
        assert!(!output.stdout.is_empty(), "{typed}");
    }
}

/// The make targets, in the order of a Makefile: each has a line of ours or of cargo's.
fn the_make_targets_have_their_counterparts(folder: &Path) {
    let printed = succeeds(line("manifests"), folder);
    let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
    for definition in ["sites", "zones", "notes"] {
        let name = format!("name: {definition}.web.example.com");
        assert!(printed.contains(&name), "{name} in\n{printed}");
    }
    succeeds(cargo(&["fmt", "--check"]), folder);
    what_no_test_uses_is_found(folder);
    lint(folder);
    succeeds(cargo(&["test", "--quiet"]), folder);
    succeeds(cargo(&["build", "--quiet"]), folder);
    let once = succeeds(line("dev --once"), folder);
    let once = String::from_utf8_lossy(&once.stdout).into_owned();
    for sample in [
        "Site default/site-sample",
        "Zone zone-sample",
        "Note default/note-sample",
    ] {
        assert!(once.contains(&format!("ready: {sample}")), "{once}");
    }
    // What is compiled already is packed: a release would take minutes.
    succeeds(line("image --archive image.tar --profile dev"), folder);
    assert!(folder.join("image.tar").is_file());
}

/// The scaffold's tests never delete a ConfigMap that is owned; all else is well.
fn what_no_test_uses_is_found(folder: &Path) {
    let mut command = line("check --tests");
    of_this_package(&mut command);
    let output = command.current_dir(folder).output().expect("it runs");
    let said = complaint(&output);
    let found = String::from_utf8_lossy(&output.stdout).into_owned();
    let unused = "/configmaps: delete was granted, and no test used it";
    assert!(found.contains(unused), "{found}\n{said}");
    let mut findings = found.lines().filter(|line| !line.trim().is_empty());
    assert!(findings.all(|line| line.starts_with("unused: ")), "{found}");
    succeeds(line("check --tests --allow unused"), folder);
}

/// clippy with what is compiled already; `cargo clippy` would look at each dependency anew.
fn lint(folder: &Path) {
    let mut command = cargo(&["build", "--quiet", "--all-targets"]);
    command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    let output = succeeds(command, folder);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("warning"), "{said}");
}

/// Into a cluster and out of it.
fn the_project_is_shipped(folder: &Path) {
    let served = Served::start(1);
    let kubeconfig = served.kubeconfig().to_str().expect("a path in UTF-8");
    for (words, said) in [
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
        let mut command = line(words);
        command.args(["--kubeconfig", kubeconfig]);
        let output = succeeds(command, folder);
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(printed.contains(said), "{words}: {printed}");
    }
}

/// The commands and make targets that kubebuilder's users know, in their order, on one project:
/// a kind, one without a namespace, one without a controller, a kind of Kubernetes' own with a
/// controller, webhooks for a kind of each.
#[test]
fn an_empty_folder_becomes_what_kubebuilders_users_make_of_it() {
    let home = tempfile::tempdir().expect("a folder");
    prepare(home.path());
    let folder = home.path().join("flow-of-seeds");
    fs::create_dir(&folder).expect("a folder");
    let mut init = line("init --domain example.com --kubewright-path");
    init.arg(workspace());
    succeeds(init, &folder);
    lock(&folder);
    for words in [
        "create api --group web --version v1 --kind Site",
        "create api --group web --version v1 --kind Zone --namespaced=false",
        "create api --group web --version v1 --kind Note --controller=false",
        "create api --group apps --version v1 --kind Deployment --resource=false",
        "create api --group apps --version v1beta1 --kind MyDaemonSet",
        "create webhook --group apps --version v1beta1 --kind MyDaemonSet --defaulting --programmatic-validation",
        "create webhook --kind Site --defaulting --programmatic-validation",
        "create webhook --group core --version v1 --kind Pod --defaulting --operations create",
    ] {
        succeeds(line(words), &folder);
    }
    former_words_are_answered(&folder);
    the_make_targets_have_their_counterparts(&folder);
    the_project_is_shipped(&folder);
}

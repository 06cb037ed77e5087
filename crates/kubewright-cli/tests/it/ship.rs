//! `install`, `deploy` and back, on a cluster with an address.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use kubewright_testing::control_plane::{ControlPlane, Program, Release};
use kubewright_testing::{Cluster, Settings};
use serde_json::{Value, json};

use super::cluster::Served;
use super::{complaint, kubewright};

/// The operator that is shipped.
fn operator() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../operators/mydaemonset")
}

/// A cluster as the command sees it: by a kubeconfig.
struct Ground {
    kubeconfig: PathBuf,
    client: Client,
}

impl Ground {
    async fn new(kubeconfig: &Path) -> Self {
        let read = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
        let config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await;
        Self {
            kubeconfig: kubeconfig.to_owned(),
            client: Client::try_from(config.expect("a configuration")).expect("a client"),
        }
    }

    fn run(&self, command: &str, flags: &[&str]) -> Output {
        let mut call = kubewright(&[command]);
        call.arg(operator())
            .arg("--kubeconfig")
            .arg(&self.kubeconfig);
        super::flow::of_this_package(&mut call);
        call.args(flags).output().expect("the command runs")
    }

    /// What a call that succeeds prints.
    fn does(&self, command: &str, flags: &[&str]) -> String {
        let output = self.run(command, flags);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command} {flags:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn of(&self, group: &str, version: &str, kind: &str, plural: &str) -> Api<DynamicObject> {
        let api_version = match group {
            "" => version.to_owned(),
            group => format!("{group}/{version}"),
        };
        let resource = ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version,
            kind: kind.to_owned(),
            plural: plural.to_owned(),
        };
        Api::all_with(self.client.clone(), &resource)
    }

    fn definitions(&self) -> Api<DynamicObject> {
        let (group, kind) = ("apiextensions.k8s.io", "CustomResourceDefinition");
        self.of(group, "v1", kind, "customresourcedefinitions")
    }

    async fn definition(&self) -> Option<DynamicObject> {
        self.definitions()
            .get_opt(DEFINITION)
            .await
            .expect("the server answers")
    }
}

const DEFINITION: &str = "mydaemonsets.apps.kubewright.dev";

/// The kinds come, stay while they are used, and go.
async fn kinds_come_and_go(ground: &Ground) {
    let planned = ground.does("install", &["--dry-run"]);
    assert!(
        planned.contains(&format!("new      CustomResourceDefinition {DEFINITION}")),
        "{planned}"
    );
    assert!(
        ground.definition().await.is_none(),
        "a dry run changes nothing"
    );
    let installed = ground.does("install", &[]);
    assert!(
        installed.contains(&format!("ready    CustomResourceDefinition {DEFINITION}")),
        "{installed}"
    );
    let again = ground.does("install", &[]);
    assert!(again.contains("same     1 objects"), "{again}");

    let sample = json!({
        "apiVersion": "apps.kubewright.dev/v1beta1", "kind": "MyDaemonSet",
        "metadata": {"name": "kept", "namespace": "default"}, "spec": {"image": "a"},
    });
    let resource = ApiResource {
        group: "apps.kubewright.dev".to_owned(),
        version: "v1beta1".to_owned(),
        api_version: "apps.kubewright.dev/v1beta1".to_owned(),
        kind: "MyDaemonSet".to_owned(),
        plural: "mydaemonsets".to_owned(),
    };
    let sets: Api<DynamicObject> =
        Api::namespaced_with(ground.client.clone(), "default", &resource);
    let as_test = PatchParams::apply("test").force();
    sets.patch("kept", &as_test, &Patch::Apply(&sample))
        .await
        .expect("the sample is stored");
    let said = complaint(&ground.run("uninstall", &[]));
    assert!(
        said.contains(&format!("1 of {DEFINITION} would go with them")),
        "{said}"
    );
    assert!(ground.definition().await.is_some(), "nothing was deleted");

    widen(ground).await;
    let said = complaint(&ground.run("install", &["--force-conflicts"]));
    assert!(said.contains("v1beta1: .spec.extra goes"), "{said}");
    let shown = ground.does(
        "install",
        &["--dry-run", "--allow-unsafe", "--force-conflicts"],
    );
    assert!(has_line(&shown, "- ", "extra:"), "{shown}");

    ground.does("uninstall", &["--delete-instances"]);
    assert!(ground.definition().await.is_none());
}

/// Whether a line of the difference comes or goes and says this.
fn has_line(shown: &str, sign: &str, part: &str) -> bool {
    let mut lines = shown.lines().map(str::trim_start);
    lines.any(|line| line.starts_with(sign) && line.contains(part))
}

/// Somebody gives the definition in the cluster a field that the program does not know.
async fn widen(ground: &Ground) {
    let live = ground.definition().await.expect("the definition");
    let mut versions = live.data["spec"]["versions"].clone();
    versions[0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["extra"] =
        json!({"type": "string"});
    let patch: Value = json!({"spec": {"versions": versions}});
    let definitions = ground.definitions();
    definitions
        .patch(DEFINITION, &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .expect("the definition is changed");
}

/// The operator comes with all it needs, is changed, and goes; its kinds stay.
async fn the_operator_comes_and_goes(ground: &Ground) {
    let image = ["--image", "registry.example.com/mydaemonset:1"];
    let planned = ground.does("deploy", &[image[0], image[1], "--dry-run"]);
    assert!(
        planned.contains("new      Deployment mydaemonset-system/mydaemonset"),
        "{planned}"
    );
    let stale = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": [],
        "metadata": {"name": "former", "labels": {"app.kubernetes.io/name": "mydaemonset"}},
    });
    let roles = ground.of(
        "rbac.authorization.k8s.io",
        "v1",
        "ClusterRole",
        "clusterroles",
    );
    let as_ours = PatchParams::apply("kubewright");
    roles
        .patch("former", &as_ours, &Patch::Apply(&stale))
        .await
        .expect("the role is stored");

    let deployed = ground.does("deploy", &image);
    assert!(
        deployed.contains("ready    Deployment mydaemonset-system/mydaemonset"),
        "{deployed}"
    );
    assert!(
        deployed.contains("gone     ClusterRole former"),
        "{deployed}"
    );
    let changed = ground.does(
        "deploy",
        &["--image", "registry.example.com/mydaemonset:2", "--dry-run"],
    );
    assert!(
        has_line(&changed, "+ ", "image: registry.example.com/mydaemonset:2"),
        "{changed}"
    );

    let gone = ground.does("undeploy", &[]);
    assert!(
        gone.contains("gone     Deployment mydaemonset-system/mydaemonset"),
        "{gone}"
    );
    assert!(
        gone.contains(&format!("keep     CustomResourceDefinition {DEFINITION}")),
        "{gone}"
    );
    assert!(ground.definition().await.is_some(), "the kinds stay");
}

/// `kubectl apply --dry-run=server` takes what `manifests` prints of an operator.
async fn kubectl_takes_the_manifests(ground: &Ground, name: &str) {
    let Some(kubectl) = kubectl().await else {
        return;
    };
    // A dry run makes no namespace for the objects behind it.
    let namespace = format!("{name}-system");
    let made = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    let namespaces = ground.of("", "v1", "Namespace", "namespaces");
    let as_test = PatchParams::apply("test").force();
    let applied = namespaces
        .patch(&namespace, &as_test, &Patch::Apply(&made))
        .await;
    applied.expect("the namespace is stored");

    let mut call = kubewright(&["manifests"]);
    super::flow::of_this_package(&mut call);
    call.arg(operator().with_file_name(name));
    call.args(["--image", "registry.example.com/operator:1"]);
    let printed = call.output().expect("the command runs");
    assert!(printed.status.success(), "{printed:?}");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("manifests.yaml");
    fs::write(&file, &printed.stdout).expect("a file");
    let taken = Command::new(kubectl)
        .args(["apply", "--dry-run=server", "--kubeconfig"])
        .arg(&ground.kubeconfig)
        .arg("-f")
        .arg(&file)
        .output()
        .expect("kubectl runs");
    assert!(taken.status.success(), "{name}: {taken:?}");
}

#[tokio::test]
async fn on_the_embedded_cluster_an_operator_is_installed_deployed_and_removed() {
    let served = Served::start(2);
    let ground = Ground::new(served.kubeconfig()).await;
    kinds_come_and_go(&ground).await;
    the_operator_comes_and_goes(&ground).await;
    kubectl_takes_the_manifests(&ground, "mydaemonset").await;
    kubectl_takes_the_manifests(&ground, "sidecarset").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_real_cluster_an_operator_is_installed_deployed_and_removed() {
    let started = Cluster::real()
        .nodes(1)
        .own()
        .named("ship")
        .start_or_skip()
        .await;
    let Some(cluster) = started.expect("a real cluster, or none") else {
        return;
    };
    let ground = Ground::new(&cluster.kubeconfig().expect("it has an address")).await;
    kinds_come_and_go(&ground).await;
    the_operator_comes_and_goes(&ground).await;
    kubectl_takes_the_manifests(&ground, "mydaemonset").await;
    kubectl_takes_the_manifests(&ground, "sidecarset").await;
    cluster.close().await.expect("it ends");
}

/// `kubectl` of the real control plane, where that is built.
pub(super) async fn kubectl() -> Option<PathBuf> {
    let settings = Settings::from_environment().ok()?;
    let found = ControlPlane::locate(Release::current(), &settings)
        .await
        .ok()?;
    found.program(Program::Kubectl).ok()
}

//! `install`, `deploy` and back, on a cluster with an address.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use kube::api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use kubewright_testing::control_plane::{ControlPlane, Program, Release};
use kubewright_testing::{Cluster, Settings};
use serde_json::{Value, json};

use super::cluster::Served;
use super::{complaint, kubewright, skipped};

/// The folder of an operator of the workspace's.
pub(super) fn operator(name: &str) -> PathBuf {
    let operators = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../operators");
    operators.join(name)
}

/// A cluster as the command sees it, by a kubeconfig, and the operator that is shipped to it.
pub(super) struct Ground {
    operator: PathBuf,
    /// What builds it; none is cargo.
    cargo: Option<PathBuf>,
    kubeconfig: PathBuf,
    config: Config,
    client: Client,
}

impl Ground {
    pub(super) async fn new(operator_name: &str, kubeconfig: &Path) -> Self {
        let read = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
        let config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await;
        let config = config.expect("a configuration");
        Self {
            operator: operator(operator_name),
            cargo: None,
            kubeconfig: kubeconfig.to_owned(),
            client: Client::try_from(config.clone()).expect("a client"),
            config,
        }
    }

    /// Ships the program in another folder, which has a cargo of its own.
    pub(super) fn shipping(self, folder: &Path) -> Self {
        Self {
            operator: folder.to_owned(),
            cargo: Some(folder.join("cargo")),
            ..self
        }
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// How the cluster is reached.
    pub(super) fn config(&self) -> Config {
        self.config.clone()
    }

    fn run(&self, command: &str, flags: &[&str]) -> Output {
        let mut call = kubewright(&[command]);
        call.arg(&self.operator)
            .arg("--kubeconfig")
            .arg(&self.kubeconfig);
        super::flow::of_this_package(&mut call);
        if let Some(cargo) = &self.cargo {
            call.env("CARGO", cargo);
        }
        call.args(flags).output().expect("the command runs")
    }

    /// What a call that succeeds and needs no cluster prints.
    fn does_here(&self, command: &str, flags: &[&str]) -> String {
        let mut call = kubewright(&[command]);
        super::flow::of_this_package(&mut call);
        let output = call.arg(&self.operator).args(flags).output();
        let output = output.expect("the command runs");
        assert!(output.status.success(), "{command} {flags:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// What a call that succeeds prints.
    pub(super) fn does(&self, command: &str, flags: &[&str]) -> String {
        let output = self.run(command, flags);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command} {flags:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(super) fn of(
        &self,
        group: &str,
        version: &str,
        kind: &str,
        plural: &str,
    ) -> Api<DynamicObject> {
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
    assert!(has_line(&planned, "+ ", "kind: MyDaemonSet"), "{planned}");
    assert!(
        ground.definition().await.is_none(),
        "a dry run changes nothing"
    );
    a_script_reads_what_would_be_done(ground);
    let installed = ground.does("install", &[]);
    assert!(
        installed.contains(&format!("ready    CustomResourceDefinition {DEFINITION}")),
        "{installed}"
    );
    types_are_the_same_from_the_cluster_and_from_a_file(ground);
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
    let shown = ground.does("uninstall", &["--dry-run"]);
    let line = format!("delete   CustomResourceDefinition {DEFINITION} (1 objects)");
    assert!(shown.contains(&line), "{shown}");
    assert!(shown.contains("--delete-instances"), "{shown}");
    assert!(ground.definition().await.is_some(), "nothing was deleted");
    a_former_definition_is_named_and_stays(ground).await;

    what_objects_break_is_refused(ground, &sets).await;
    what_no_server_takes_is_told_before_it_is_asked(ground).await;
}

/// An earlier version of the operator had a kind more.
async fn a_former_definition_is_named_and_stays(ground: &Ground) {
    let name = "formers.apps.kubewright.dev";
    let schema = json!({"openAPIV3Schema": {"type": "object"}});
    let former = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/name": "mydaemonset"}},
        "spec": {
            "group": "apps.kubewright.dev", "scope": "Namespaced",
            "names": {"kind": "Former", "plural": "formers"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    });
    let definitions = ground.definitions();
    let as_ours = PatchParams::apply("kubewright");
    let applied = definitions
        .patch(name, &as_ours, &Patch::Apply(&former))
        .await;
    applied.expect("the definition is stored");
    let said = ground.does("install", &[]);
    let line = format!("keep     CustomResourceDefinition {name}: the operator no longer has it");
    assert!(said.contains(&line), "{said}");
    let kept = definitions.get_opt(name).await.expect("the server answers");
    assert!(kept.is_some(), "nothing was deleted");
    let deleted = definitions.delete(name, &DeleteParams::default()).await;
    deleted.expect("the definition goes");
}

/// A field goes that an object has; once no object has it, the change is let through.
async fn what_objects_break_is_refused(ground: &Ground, sets: &Api<DynamicObject>) {
    widen(ground).await;
    let extra = |value: Value| Patch::Merge(json!({"spec": {"extra": value}}));
    let plain = PatchParams::default();
    // A server takes a moment to serve a definition's change, and drops the field until then.
    let kept = async {
        loop {
            let patched = sets.patch("kept", &plain, &extra(json!("x"))).await;
            if patched.expect("the object").data["spec"]["extra"] == "x" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let within = tokio::time::timeout(Duration::from_secs(20), kept);
    within.await.expect("the wider schema is served");
    let said = complaint(&ground.run("install", &["--force-conflicts"]));
    assert!(said.contains("v1beta1: .spec.extra is removed"), "{said}");
    let named = "default/kept: .spec.extra would be dropped";
    assert!(said.contains(named), "{said}");
    let forced = ["--dry-run", "--allow-unsafe", "--force-conflicts"];
    let shown = ground.does("install", &forced);
    assert!(has_line(&shown, "- ", "extra:"), "{shown}");
    let patched = sets.patch("kept", &plain, &extra(Value::Null)).await;
    patched.expect("the object");
    let shown = ground.does("install", &["--dry-run", "--force-conflicts"]);
    assert!(shown.contains(".spec.extra is removed: "), "{shown}");
    assert!(shown.contains("no object breaks"), "{shown}");
}

/// A stored version that goes and another scope: the reason with the way out, not the 422.
async fn what_no_server_takes_is_told_before_it_is_asked(ground: &Ground) {
    let live = ground.definition().await.expect("the definition");
    let mut versions = live.data["spec"]["versions"].clone();
    versions[0]["storage"] = false.into();
    let mut former = versions[0].clone();
    former["name"] = "v1alpha0".into();
    former["storage"] = true.into();
    versions.as_array_mut().expect("versions").push(former);
    let patch: Value = json!({"spec": {"versions": versions}});
    let definitions = ground.definitions();
    definitions
        .patch(DEFINITION, &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .expect("the definition is changed");
    for force in [
        &["--force-conflicts"][..],
        &["--force-conflicts", "--allow-unsafe"],
    ] {
        let said = complaint(&ground.run("install", force));
        let reason =
            format!("{DEFINITION}: version v1alpha0 is removed, and objects are stored in it");
        assert!(said.contains(&reason), "{said}");
        assert!(!said.contains("422"), "{said}");
    }
    let image = [
        "--image",
        "registry.example.com/mydaemonset:1",
        "--force-conflicts",
    ];
    let said = complaint(&ground.run("deploy", &image));
    assert!(said.contains("version v1alpha0 goes"), "{said}");
    ground.does("uninstall", &["--delete-instances"]);
    assert!(ground.definition().await.is_none());

    let mut spec = live.data["spec"].clone();
    spec["scope"] = "Cluster".into();
    let wide = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": DEFINITION}, "spec": spec,
    });
    let wide: DynamicObject = serde_json::from_value(wide).expect("a definition");
    let created = definitions.create(&PostParams::default(), &wide).await;
    created.expect("the definition is stored");
    let said = complaint(&ground.run("install", &["--force-conflicts"]));
    let reason = "the scope changes from Cluster to Namespaced: uninstall the definition";
    assert!(said.contains(reason), "{said}");
    ground.does("uninstall", &[]);
    assert!(ground.definition().await.is_none());
}

/// The answer is all that standard output has; progress is on standard error.
fn a_script_reads_what_would_be_done(ground: &Ground) {
    let output = ground.run("install", &["--dry-run", "--output", "json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
    let object = json!({
        "action": "new", "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "namespace": null, "name": DEFINITION,
    });
    assert_eq!(answer, json!({"dryRun": true, "objects": [object]}));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("new      CustomResourceDefinition"), "{said}");
    let yaml = ground.does("install", &["--dry-run", "--output", "yaml"]);
    let read = kubewright_wire::yaml::documents(&yaml).expect("YAML");
    assert_eq!(read, [answer]);
    let names = ground.does("install", &["--dry-run", "--output", "name"]);
    let name = format!("customresourcedefinition.apiextensions.k8s.io/{DEFINITION}\n");
    assert_eq!(names, name);
}

/// `generate types` reads a definition where it is served as it reads the file it came from.
fn types_are_the_same_from_the_cluster_and_from_a_file(ground: &Ground) {
    let printed = ground.does_here("manifests", &[]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("manifests.yaml");
    fs::write(&file, printed).expect("a file");
    let types = |from: &str, what: &Path| {
        let mut call = kubewright(&["generate", "types", from]);
        call.arg(what).arg("--kubeconfig").arg(&ground.kubeconfig);
        let output = call.output().expect("the command runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("a text")
    };
    let live = types("--crd", Path::new(DEFINITION));
    assert!(live.contains("pub struct MyDaemonSetSpec"), "{live}");
    assert_eq!(live, types("--file", &file));
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
    let managed = [&image[..], &["--dry-run", "--certificates", "managed"]].concat();
    let managed = ground.does("deploy", &managed);
    let line = "new      Role mydaemonset-system/mydaemonset-webhook";
    assert!(managed.contains(line), "{managed}");
    assert!(!managed.contains("new      Secret"), "{managed}");
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

    a_certificate_that_nobody_would_renew_is_replaced(ground, &image).await;

    let with = ["--with", "network-policy,pod-disruption-budget"];
    let more = ground.does("deploy", &[&image[..], &with].concat());
    assert!(
        more.contains("new      NetworkPolicy mydaemonset-system/mydaemonset"),
        "{more}"
    );
    let less = ground.does(
        "deploy",
        &[&image[..], &with[..1], &["network-policy"]].concat(),
    );
    assert!(
        less.contains("gone     PodDisruptionBudget mydaemonset-system/mydaemonset"),
        "{less}"
    );

    let gone = ground.does("undeploy", &[]);
    assert!(
        gone.contains("gone     Deployment mydaemonset-system/mydaemonset"),
        "{gone}"
    );
    assert!(
        gone.contains("gone     NetworkPolicy mydaemonset-system/mydaemonset"),
        "{gone}"
    );
    assert!(
        gone.contains(&format!("keep     CustomResourceDefinition {DEFINITION}")),
        "{gone}"
    );
    assert!(ground.definition().await.is_some(), "the kinds stay");
}

/// cert-manager kept the Secret; from now on the command's own certificate is in it.
async fn a_certificate_that_nobody_would_renew_is_replaced(ground: &Ground, image: &[&str]) {
    let (namespace, name) = ("mydaemonset-system", "mydaemonset-webhook");
    let secrets: Api<Secret> = Api::namespaced(ground.client.clone(), namespace);
    let by_others =
        json!({"metadata": {"annotations": {"cert-manager.io/certificate-name": name}}});
    let before = secrets
        .patch(name, &PatchParams::default(), &Patch::Merge(&by_others))
        .await
        .expect("the Secret is there");
    let shown = ground.does("deploy", &[image, &["--dry-run"]].concat());
    let line = format!("replace  Secret {namespace}/{name}: cert-manager renewed its certificate");
    assert!(shown.contains(&line), "{shown}");
    assert!(!shown.contains("tls.key: LS0"), "{shown}");
    ground.does("deploy", image);
    let after = secrets.get(name).await.expect("the Secret is there");
    assert_ne!(after.metadata.uid, before.metadata.uid);
    assert_ne!(after.data, before.data);
    assert_eq!(after.metadata.annotations, None);
    let again = ground.does("deploy", &[image, &["--dry-run"]].concat());
    assert!(!again.contains("Secret"), "{again}");
}

/// `kubectl apply --dry-run=server` takes what `manifests` prints of an operator, and its chart.
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
    call.arg(operator(name));
    call.args(["--image", "registry.example.com/operator:1"]);
    let printed = call.output().expect("the command runs");
    assert!(printed.status.success(), "{printed:?}");
    let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
    let chart = super::charts::chart_of(name).await;
    for text in [Some(printed), chart].into_iter().flatten() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("manifests.yaml");
        fs::write(&file, &text).expect("a file");
        let taken = Command::new(&kubectl)
            .args(["apply", "--dry-run=server", "--kubeconfig"])
            .arg(&ground.kubeconfig)
            .arg("-f")
            .arg(&file)
            .output()
            .expect("kubectl runs");
        assert!(taken.status.success(), "{name}: {taken:?}\n{text}");
    }
}

#[tokio::test]
async fn on_the_embedded_cluster_an_operator_is_installed_deployed_and_removed() {
    let served = Served::start(2);
    let ground = Ground::new("mydaemonset", served.kubeconfig()).await;
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
    let kubeconfig = cluster.kubeconfig().expect("it has an address");
    let ground = Ground::new("mydaemonset", &kubeconfig).await;
    kinds_come_and_go(&ground).await;
    the_operator_comes_and_goes(&ground).await;
    kubectl_takes_the_manifests(&ground, "mydaemonset").await;
    kubectl_takes_the_manifests(&ground, "sidecarset").await;
    cluster.close().await.expect("it ends");
}

/// `kubectl` of the real control plane, or a line that says why there is none.
pub(super) async fn kubectl() -> Option<PathBuf> {
    let settings = Settings::from_environment().expect("settings");
    let found = ControlPlane::locate(Release::current(), &settings)
        .await
        .and_then(|found| found.program(Program::Kubectl));
    assert!(found.is_ok() || !settings.require_real, "{found:?}");
    found.map_err(skipped).ok()
}

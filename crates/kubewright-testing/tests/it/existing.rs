//! Tests on an existing cluster: here a real one, which the tests use only by its kubeconfig.

use std::process::Output;

use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kubewright_testing::{Cluster, Object};
use serde_json::json;
use tokio::process::Command;

const TEST: &str = "operator::operator_runs_under_the_role_of_its_manifests";
const WEBHOOK_TEST: &str = "operator::webhook_of_this_process_is_called_by_the_cluster";

/// Runs another test of this program with the cluster as the existing one.
async fn run_test(cluster: &Cluster) -> Output {
    run_test_with(cluster, TEST, &[]).await
}

async fn run_test_with(cluster: &Cluster, test: &str, settings: &[(&str, &str)]) -> Output {
    let program = std::env::current_exe().expect("this program");
    let run = Command::new(program)
        .args([test, "--exact", "--nocapture"])
        .env("KUBEWRIGHT_TEST_CLUSTER", "existing")
        .env("KUBECONFIG", cluster.kubeconfig().expect("a kubeconfig"))
        .envs(settings.iter().copied())
        .output();
    run.await.expect("it runs")
}

/// The names of all cluster-scoped objects that an operator can install.
async fn names(cluster: &Cluster) -> Vec<String> {
    [
        names_of::<Namespace>(cluster).await,
        names_of::<CustomResourceDefinition>(cluster).await,
        names_of::<ClusterRole>(cluster).await,
        names_of::<ClusterRoleBinding>(cluster).await,
        names_of::<ValidatingWebhookConfiguration>(cluster).await,
    ]
    .concat()
}

async fn names_of<K: Object>(cluster: &Cluster) -> Vec<String> {
    let objects = cluster.list::<K>().await;
    let kind = K::kind(&());
    let names = objects.iter().map(ResourceExt::name_any);
    names.map(|name| format!("{kind} {name}")).collect()
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(&[out.as_slice(), err.as_slice()].concat()).into_owned()
}

#[kubewright_testing::test(cluster = real)]
async fn test_on_an_existing_cluster_leaves_it_as_it_was(cluster: Cluster) {
    let before = names(&cluster).await;
    let output = run_test(&cluster).await;
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("1 passed"), "{}", text(&output));
    assert_eq!(names(&cluster).await, before);
}

/// By default on loopback, as this cluster is on loopback, and by the name in a setting.
#[kubewright_testing::test(cluster = real)]
async fn existing_cluster_calls_webhooks_of_the_operator_under_test(cluster: Cluster) {
    let before = names(&cluster).await;
    for settings in [vec![], vec![("KUBEWRIGHT_TEST_WEBHOOK_HOST", "localhost")]] {
        let output = run_test_with(&cluster, WEBHOOK_TEST, &settings).await;
        assert!(output.status.success(), "{}", text(&output));
        assert!(text(&output).contains("1 passed"), "{}", text(&output));
        assert_eq!(names(&cluster).await, before);
    }
    // A name that does not resolve.
    let unresolved = [
        ("KUBEWRIGHT_TEST_WEBHOOK_HOST", "nowhere.invalid"),
        ("KUBEWRIGHT_TEST_TIMEOUT", "5"),
    ];
    let output = run_test_with(&cluster, WEBHOOK_TEST, &unresolved).await;
    assert!(!output.status.success());
    assert!(
        text(&output).contains("nowhere.invalid"),
        "{}",
        text(&output)
    );
    assert_eq!(names(&cluster).await, before);
}

#[kubewright_testing::test(cluster = real)]
async fn missing_deployment_fails_the_test_and_nothing_is_installed(cluster: Cluster) {
    let before = names(&cluster).await;
    let settings = [
        ("KUBEWRIGHT_TEST_OPERATOR", "deployed"),
        ("KUBEWRIGHT_TEST_TIMEOUT", "5"),
    ];
    let output = run_test_with(&cluster, TEST, &settings).await;
    assert!(!output.status.success());
    let text = text(&output);
    assert!(text.contains("`kubewright deploy` creates it"), "{text}");
    assert_eq!(names(&cluster).await, before);
}

#[kubewright_testing::test(cluster = real)]
async fn object_that_no_test_created_is_an_error_and_stays_unchanged(cluster: Cluster) {
    let role = json!({
        "metadata": {"name": "sites"},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
    });
    let role: ClusterRole = serde_json::from_value(role).expect("a role");
    let before = cluster.apply(role).await;
    let output = run_test(&cluster).await;
    assert!(!output.status.success());
    let text = text(&output);
    assert!(text.contains("install ClusterRole sites"), "{text}");
    let after = cluster.get::<ClusterRole>("sites").await;
    let version = |role: ClusterRole| role.metadata.resource_version;
    assert_eq!(after.map(version), Some(version(before)));
}

//! A cluster that was there before: here a real one, reached by its kubeconfig alone.

use std::process::Output;

use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt as _;
use kubewright_testing::Cluster;
use serde_json::json;
use tokio::process::Command;

const GUEST: &str = "operator::an_operator_works_under_the_role_of_its_manifests";
const WEBHOOK_GUEST: &str = "operator::a_webhook_of_this_process_is_asked_by_the_cluster";

/// Runs another test of this program as a guest of the cluster.
async fn guest(cluster: &Cluster) -> Output {
    guest_with(cluster, GUEST, &[]).await
}

async fn guest_with(cluster: &Cluster, test: &str, settings: &[(&str, &str)]) -> Output {
    let program = std::env::current_exe().expect("this program");
    let run = Command::new(program)
        .args([test, "--exact", "--nocapture"])
        .env("KUBEWRIGHT_TEST_CLUSTER", "existing")
        .env("KUBECONFIG", cluster.kubeconfig().expect("a kubeconfig"))
        .envs(settings.iter().copied())
        .output();
    run.await.expect("it runs")
}

/// The names of everything that is in no namespace and that an operator could bring along.
async fn names(cluster: &Cluster) -> Vec<String> {
    let mut names = Vec::new();
    let all = cluster.list::<Namespace>().await;
    names.extend(
        all.iter()
            .map(|one| format!("namespace {}", one.name_any())),
    );
    let all = cluster.list::<CustomResourceDefinition>().await;
    names.extend(
        all.iter()
            .map(|one| format!("definition {}", one.name_any())),
    );
    let all = cluster.list::<ClusterRole>().await;
    names.extend(all.iter().map(|one| format!("role {}", one.name_any())));
    let all = cluster.list::<ClusterRoleBinding>().await;
    names.extend(all.iter().map(|one| format!("binding {}", one.name_any())));
    let all = cluster.list::<ValidatingWebhookConfiguration>().await;
    names.extend(all.iter().map(|one| format!("webhooks {}", one.name_any())));
    names
}

fn said(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(&[out.as_slice(), err.as_slice()].concat()).into_owned()
}

#[kubewright_testing::test(cluster = real)]
async fn a_test_on_an_existing_cluster_leaves_it_as_it_was(cluster: Cluster) {
    let before = names(&cluster).await;
    let output = guest(&cluster).await;
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("1 passed"), "{}", said(&output));
    assert_eq!(names(&cluster).await, before);
}

/// By itself on loopback, where this cluster is, and by the name that a setting gives.
#[kubewright_testing::test(cluster = real)]
async fn webhooks_under_test_are_served_to_an_existing_cluster(cluster: Cluster) {
    let before = names(&cluster).await;
    for settings in [vec![], vec![("KUBEWRIGHT_TEST_WEBHOOK_HOST", "localhost")]] {
        let output = guest_with(&cluster, WEBHOOK_GUEST, &settings).await;
        assert!(output.status.success(), "{}", said(&output));
        assert!(said(&output).contains("1 passed"), "{}", said(&output));
        assert_eq!(names(&cluster).await, before);
    }
    // It leads elsewhere: nobody answers there.
    let nowhere = [
        ("KUBEWRIGHT_TEST_WEBHOOK_HOST", "nowhere.invalid"),
        ("KUBEWRIGHT_TEST_TIMEOUT", "5"),
    ];
    let output = guest_with(&cluster, WEBHOOK_GUEST, &nowhere).await;
    assert!(!output.status.success());
    assert!(
        said(&output).contains("nowhere.invalid"),
        "{}",
        said(&output)
    );
    assert_eq!(names(&cluster).await, before);
}

#[kubewright_testing::test(cluster = real)]
async fn a_deployed_operator_that_is_not_there_fails_the_test_and_nothing_is_installed(
    cluster: Cluster,
) {
    let before = names(&cluster).await;
    let settings = [
        ("KUBEWRIGHT_TEST_OPERATOR", "deployed"),
        ("KUBEWRIGHT_TEST_TIMEOUT", "5"),
    ];
    let output = guest_with(&cluster, GUEST, &settings).await;
    assert!(!output.status.success());
    let said = said(&output);
    assert!(said.contains("`kubewright deploy` brings it"), "{said}");
    assert_eq!(names(&cluster).await, before);
}

#[kubewright_testing::test(cluster = real)]
async fn what_somebody_else_has_installed_is_refused_and_stays(cluster: Cluster) {
    let role = json!({
        "metadata": {"name": "sites"},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
    });
    let role: ClusterRole = serde_json::from_value(role).expect("a role");
    let before = cluster.apply(role).await;
    let output = guest(&cluster).await;
    assert!(!output.status.success());
    let said = said(&output);
    assert!(said.contains("install ClusterRole sites"), "{said}");
    let after = cluster.get::<ClusterRole>("sites").await;
    let version = |role: ClusterRole| role.metadata.resource_version;
    assert_eq!(after.map(version), Some(version(before)));
}

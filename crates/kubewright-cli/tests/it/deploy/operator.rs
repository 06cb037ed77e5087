//! Steps of a test: an operator is deployed, changed and undeployed.

use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::kinds::{DEFINITION, definition, has_line};
use crate::target_cluster::TargetCluster;

/// Deploys an operator, changes it, and undeploys it; its kinds stay.
pub(super) async fn deploy_and_undeploy_operator(cluster: &TargetCluster) {
    let image = ["--image", "registry.example.com/mydaemonset:1"];
    let planned = cluster.succeed("deploy", &[image[0], image[1], "--dry-run"]);
    assert!(
        planned.contains("new      Deployment mydaemonset-system/mydaemonset"),
        "{planned}"
    );
    let managed = [&image[..], &["--dry-run", "--certificates", "managed"]].concat();
    let managed = cluster.succeed("deploy", &managed);
    let line = "new      Role mydaemonset-system/mydaemonset-webhook";
    assert!(managed.contains(line), "{managed}");
    assert!(!managed.contains("new      Secret"), "{managed}");
    let stale = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": [],
        "metadata": {"name": "former", "labels": {"app.kubernetes.io/name": "mydaemonset"}},
    });
    let roles = cluster.api(
        "rbac.authorization.k8s.io",
        "v1",
        "ClusterRole",
        "clusterroles",
    );
    let as_kubewright = PatchParams::apply("kubewright");
    roles
        .patch("former", &as_kubewright, &Patch::Apply(&stale))
        .await
        .expect("the role is stored");

    let deployed = cluster.succeed("deploy", &image);
    assert!(
        deployed.contains("ready    Deployment mydaemonset-system/mydaemonset"),
        "{deployed}"
    );
    assert!(
        deployed.contains("gone     ClusterRole former"),
        "{deployed}"
    );
    let changed = cluster.succeed(
        "deploy",
        &["--image", "registry.example.com/mydaemonset:2", "--dry-run"],
    );
    assert!(
        has_line(&changed, "+ ", "image: registry.example.com/mydaemonset:2"),
        "{changed}"
    );

    replace_certificate_of_cert_manager(cluster, &image).await;

    let with = ["--with", "network-policy,pod-disruption-budget"];
    let more = cluster.succeed("deploy", &[&image[..], &with].concat());
    assert!(
        more.contains("new      NetworkPolicy mydaemonset-system/mydaemonset"),
        "{more}"
    );
    let less = cluster.succeed(
        "deploy",
        &[&image[..], &with[..1], &["network-policy"]].concat(),
    );
    assert!(
        less.contains("gone     PodDisruptionBudget mydaemonset-system/mydaemonset"),
        "{less}"
    );

    let undeployed = cluster.succeed("undeploy", &[]);
    assert!(
        undeployed.contains("gone     Deployment mydaemonset-system/mydaemonset"),
        "{undeployed}"
    );
    assert!(
        undeployed.contains("gone     NetworkPolicy mydaemonset-system/mydaemonset"),
        "{undeployed}"
    );
    assert!(
        undeployed.contains(&format!("keep     CustomResourceDefinition {DEFINITION}")),
        "{undeployed}"
    );
    assert!(definition(cluster).await.is_some(), "the kinds stay");
}

/// A Secret that cert-manager renewed is replaced by one with the command's own certificate.
async fn replace_certificate_of_cert_manager(cluster: &TargetCluster, image: &[&str]) {
    let (namespace, name) = ("mydaemonset-system", "mydaemonset-webhook");
    let secrets: Api<Secret> = Api::namespaced(cluster.client(), namespace);
    let annotated =
        json!({"metadata": {"annotations": {"cert-manager.io/certificate-name": name}}});
    let before = secrets
        .patch(name, &PatchParams::default(), &Patch::Merge(&annotated))
        .await
        .expect("the Secret exists");
    let planned = cluster.succeed("deploy", &[image, &["--dry-run"]].concat());
    let line = format!("replace  Secret {namespace}/{name}: cert-manager renewed its certificate");
    assert!(planned.contains(&line), "{planned}");
    assert!(!planned.contains("tls.key: LS0"), "{planned}");
    cluster.succeed("deploy", image);
    let after = secrets.get(name).await.expect("the Secret exists");
    assert_ne!(after.metadata.uid, before.metadata.uid);
    assert_ne!(after.data, before.data);
    assert_eq!(after.metadata.annotations, None);
    let again = cluster.succeed("deploy", &[image, &["--dry-run"]].concat());
    assert!(!again.contains("Secret"), "{again}");
}

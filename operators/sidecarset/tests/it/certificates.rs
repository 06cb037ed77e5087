//! The certificate that the operator manages itself: it is restored after it has expired or was
//! changed, and Pods get their sidecars again.

use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::PostParams;
use kubewright::prelude::*;
use kubewright::webhook::pki::Authority;
use kubewright_testing::Cluster;
use serde_json::{Value, json};
use sidecarset::{SidecarSet, operator, v1alpha1};

use crate::fixtures::{NAMESPACE, containers, create_active_set, dry_run, pod, set};

const CONFIGURATION: &str = "sidecarset";
const DEFINITION: &str = "sidecarsets.apps.kruise.io";
const SECRET: &str = "sidecarset-webhook";
/// The annotation of the Secret with the names and the expiry of its certificate.
const ROTATION: &str = "webhook.kubewright.dev/rotation";
const YEAR: Duration = Duration::from_secs(366 * 24 * 60 * 60);

async fn secret(cluster: &Cluster) -> Secret {
    let own_namespace = cluster.in_namespace(NAMESPACE);
    let secret = own_namespace.get::<Secret>(SECRET).await;
    secret.expect("the Secret of the operator")
}

fn entry(secret: &Secret, name: &str) -> Option<ByteString> {
    secret.data.as_ref()?.get(name).cloned()
}

/// Replaces the certificate in the Secret by one that has expired a year ago, and returns it.
async fn expire(cluster: &Cluster) -> ByteString {
    let mut secret = secret(cluster).await;
    let annotation = &secret.annotations()[ROTATION];
    let mut old_rotation: Value = serde_json::from_str(annotation).expect("JSON");
    let names: Vec<String> = serde_json::from_value(old_rotation["names"].take()).expect("names");
    let since = cluster.clock().now() - YEAR * 2;
    let authority = Authority::valid_from("expired", since, 365).expect("an authority");
    let borrowed: Vec<&str> = names.iter().map(String::as_str).collect();
    let pair = authority.issue_server(&borrowed).expect("a certificate");
    let rotation = json!({"stage": "Settled", "since": since.to_string(),
        "expires": authority.expires().to_string(), "names": names});
    secret
        .annotations_mut()
        .insert(ROTATION.to_owned(), rotation.to_string());
    let served = ByteString(pair.certificate_pem.into_bytes());
    let data = secret.data.get_or_insert_default();
    data.insert("tls.crt".to_owned(), served.clone());
    data.insert("tls.key".to_owned(), ByteString(pair.key_pem.into_bytes()));
    let trusted = authority.certificate_pem().into_bytes();
    data.insert("ca.crt".to_owned(), ByteString(trusted));
    let secrets: Api<Secret> = Api::namespaced(cluster.client(), NAMESPACE);
    let params = PostParams::default();
    let replaced = secrets.replace(SECRET, &params, &secret).await;
    replaced.expect("replace the Secret");
    served
}

async fn configuration(cluster: &Cluster) -> MutatingWebhookConfiguration {
    let configuration = cluster
        .get::<MutatingWebhookConfiguration>(CONFIGURATION)
        .await;
    configuration.expect("an installed operator")
}

/// Returns the CA bundle of each webhook and of the conversion.
async fn ca_bundles(cluster: &Cluster) -> Vec<Option<ByteString>> {
    let configuration = configuration(cluster).await;
    let webhooks = configuration.webhooks.into_iter().flatten();
    let mut bundles: Vec<_> = webhooks
        .map(|webhook| webhook.client_config.ca_bundle)
        .collect();
    let definition = cluster.get::<CustomResourceDefinition>(DEFINITION).await;
    let conversion = definition.and_then(|definition| definition.spec.conversion);
    let webhook = conversion.and_then(|conversion| conversion.webhook);
    let client = webhook.and_then(|webhook| webhook.client_config);
    bundles.push(client.and_then(|client| client.ca_bundle));
    bundles
}

/// Replaces the CA bundles of the webhooks and of the conversion, or removes them.
async fn replace_ca_bundles(cluster: &Cluster, bundle: Option<&ByteString>) {
    let configurations: Api<MutatingWebhookConfiguration> = Api::all(cluster.client());
    let params = PostParams::default();
    cluster
        .eventually("the CA bundles are replaced", async |c| {
            let mut configuration = configuration(c).await;
            for webhook in configuration.webhooks.iter_mut().flatten() {
                webhook.client_config.ca_bundle = bundle.cloned();
            }
            // A conflict, if the operator has written the configuration meanwhile.
            let replaced = configurations.replace(CONFIGURATION, &params, &configuration);
            replaced.await.is_ok()
        })
        .await;
    let client = json!({"clientConfig": {"caBundle": bundle}});
    let patch = json!({"spec": {"conversion": {"webhook": client}}});
    cluster
        .patch::<CustomResourceDefinition>(DEFINITION, patch)
        .await;
}

/// Waits until the API server trusts the certificate of the Secret, and Pods are injected and sets
/// converted.
async fn wait_until_trusted(cluster: &Cluster, set: &str) {
    cluster
        .eventually("the API server trusts the operator", async |c| {
            let expected = entry(&secret(c).await, "ca.crt");
            let bundles = ca_bundles(c).await;
            bundles.iter().all(|bundle| *bundle == expected)
        })
        .await;
    let older: Api<v1alpha1::SidecarSet> = Api::all(cluster.client());
    cluster
        .eventually("Pods get their sidecar", async |c| {
            let pod = dry_run(c, c.namespace(), &pod("probe", set)).await;
            pod.is_ok_and(|pod| containers(&pod) == ["side", "app"])
        })
        .await;
    cluster
        .eventually("the set is converted", async |_| {
            older.get(set).await.is_ok()
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn certificate_expired_while_the_operator_was_down_is_renewed_at_its_start(cluster: Cluster) {
    cluster.run_managed(operator).await;
    create_active_set(&cluster, set("expired", json!({}))).await;
    cluster.create(pod("before", "expired")).await;
    cluster.kill_operator();
    let expired = expire(&cluster).await;
    cluster.restart_operator().await;
    wait_until_trusted(&cluster, "expired").await;
    assert_ne!(entry(&secret(&cluster).await, "tls.crt"), Some(expired));
    cluster.create(pod("after", "expired")).await;
    for pod in cluster.list::<Pod>().await {
        assert_eq!(containers(&pod), ["side", "app"]);
    }
}

#[kubewright_testing::test(nodes = 1)]
async fn certificate_expired_under_a_running_operator_is_renewed(cluster: Cluster) {
    cluster.run_managed(operator).await;
    create_active_set(&cluster, set("expiring", json!({}))).await;
    let expired = Some(expire(&cluster).await);
    cluster
        .eventually("a new certificate", async |c| {
            entry(&secret(c).await, "tls.crt") != expired
        })
        .await;
    wait_until_trusted(&cluster, "expiring").await;
}

#[kubewright_testing::test(nodes = 1)]
async fn removed_or_replaced_ca_bundle_is_restored(cluster: Cluster) {
    cluster.run_managed(operator).await;
    create_active_set(&cluster, set("distrusted", json!({}))).await;
    let other = Authority::valid_from("other", cluster.clock().now(), 365);
    let bundle = other.expect("an authority").certificate_pem().into_bytes();
    for wrong in [None, Some(ByteString(bundle))] {
        replace_ca_bundles(&cluster, wrong.as_ref()).await;
        wait_until_trusted(&cluster, "distrusted").await;
    }
    assert!(cluster.get::<SidecarSet>("distrusted").await.is_some());
}

//! The certificate that the operator looks after itself: what somebody spoils is put right, and
//! Pods get their sidecars once more.

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

use crate::world::{NAMESPACE, active, containers, pod, set};

const CONFIGURATION: &str = "sidecarset";
const DEFINITION: &str = "sidecarsets.apps.kruise.io";
const SECRET: &str = "sidecarset-webhook";
/// Where the Secret says how long its certificate lasts, and for whom it is.
const PROGRESS: &str = "webhook.kubewright.dev/rotation";
const YEAR: Duration = Duration::from_secs(366 * 24 * 60 * 60);

async fn secret(cluster: &Cluster) -> Secret {
    let there = cluster.in_namespace(NAMESPACE);
    let secret = there.get::<Secret>(SECRET).await;
    secret.expect("the operator has made it")
}

fn entry(secret: &Secret, name: &str) -> Option<ByteString> {
    secret.data.as_ref()?.get(name).cloned()
}

/// Puts a certificate into the Secret that ended a year ago, as one does that nobody renewed.
async fn expire(cluster: &Cluster) -> ByteString {
    let mut secret = secret(cluster).await;
    let progress = &secret.annotations()[PROGRESS];
    let mut progress: Value = serde_json::from_str(progress).expect("JSON");
    let names: Vec<String> = serde_json::from_value(progress["names"].take()).expect("names");
    let then = cluster.clock().now() - YEAR * 2;
    let authority = Authority::valid_from("ended", then, 365).expect("an authority");
    let borrowed: Vec<&str> = names.iter().map(String::as_str).collect();
    let pair = authority.issue_server(&borrowed).expect("a certificate");
    let progress = json!({"stage": "Settled", "since": then.to_string(),
        "expires": authority.expires().to_string(), "names": names});
    secret
        .annotations_mut()
        .insert(PROGRESS.to_owned(), progress.to_string());
    let served = ByteString(pair.certificate_pem.into_bytes());
    let data = secret.data.get_or_insert_default();
    data.insert("tls.crt".to_owned(), served.clone());
    data.insert("tls.key".to_owned(), ByteString(pair.key_pem.into_bytes()));
    let trusted = authority.certificate_pem().into_bytes();
    data.insert("ca.crt".to_owned(), ByteString(trusted));
    let secrets: Api<Secret> = Api::namespaced(cluster.client(), NAMESPACE);
    let params = PostParams::default();
    let written = secrets.replace(SECRET, &params, &secret).await;
    written.expect("it is written");
    served
}

async fn configuration(cluster: &Cluster) -> MutatingWebhookConfiguration {
    let there = cluster
        .get::<MutatingWebhookConfiguration>(CONFIGURATION)
        .await;
    there.expect("the operator is installed")
}

/// Whom the API server trusts: for each webhook, and for the conversion.
async fn trusted(cluster: &Cluster) -> Vec<Option<ByteString>> {
    let configuration = configuration(cluster).await;
    let webhooks = configuration.webhooks.into_iter().flatten();
    let mut all: Vec<_> = webhooks.map(|one| one.client_config.ca_bundle).collect();
    let definition = cluster.get::<CustomResourceDefinition>(DEFINITION).await;
    let conversion = definition.and_then(|one| one.spec.conversion);
    let webhook = conversion.and_then(|one| one.webhook);
    let client = webhook.and_then(|one| one.client_config);
    all.push(client.and_then(|one| one.ca_bundle));
    all
}

/// Makes the API server trust somebody else, or nobody.
async fn distrust(cluster: &Cluster, bundle: Option<&ByteString>) {
    let all: Api<MutatingWebhookConfiguration> = Api::all(cluster.client());
    let params = PostParams::default();
    cluster
        .eventually("the authority is replaced", async |c| {
            let mut configuration = configuration(c).await;
            for webhook in configuration.webhooks.iter_mut().flatten() {
                webhook.client_config.ca_bundle = bundle.cloned();
            }
            // The operator may have written it meanwhile.
            let written = all.replace(CONFIGURATION, &params, &configuration).await;
            written.is_ok()
        })
        .await;
    let client = json!({"clientConfig": {"caBundle": bundle}});
    let patch = json!({"spec": {"conversion": {"webhook": client}}});
    cluster
        .patch::<CustomResourceDefinition>(DEFINITION, patch)
        .await;
}

/// Waits until the API server trusts what the Secret holds, and Pods and conversions show it.
async fn works(cluster: &Cluster, set: &str) {
    cluster
        .eventually("the API server trusts the operator", async |c| {
            let right = entry(&secret(c).await, "ca.crt");
            trusted(c).await.iter().all(|one| *one == right)
        })
        .await;
    let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
    let older: Api<v1alpha1::SidecarSet> = Api::all(cluster.client());
    let dry_run = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    cluster
        .eventually("Pods get their sidecar", async |_| {
            let made = pods.create(&dry_run, &pod("probe", set)).await;
            made.is_ok_and(|made| containers(&made) == ["side", "app"])
        })
        .await;
    cluster
        .eventually("the set is converted", async |_| {
            older.get(set).await.is_ok()
        })
        .await;
}

#[kubewright_testing::test(nodes = 1)]
async fn a_certificate_that_ended_while_the_operator_was_down_is_renewed_when_it_starts(
    cluster: Cluster,
) {
    cluster.run_managed(operator).await;
    active(&cluster, set("ended", json!({}))).await;
    cluster.create(pod("before", "ended")).await;
    cluster.kill_operator();
    let planted = expire(&cluster).await;
    cluster.restart_operator().await;
    works(&cluster, "ended").await;
    assert_ne!(entry(&secret(&cluster).await, "tls.crt"), Some(planted));
    cluster.create(pod("after", "ended")).await;
    for pod in cluster.list::<Pod>().await {
        assert_eq!(containers(&pod), ["side", "app"]);
    }
}

#[kubewright_testing::test(nodes = 1)]
async fn a_certificate_that_ends_under_a_running_operator_is_renewed(cluster: Cluster) {
    cluster.run_managed(operator).await;
    active(&cluster, set("ending", json!({}))).await;
    let planted = Some(expire(&cluster).await);
    cluster
        .eventually("there is another certificate", async |c| {
            entry(&secret(c).await, "tls.crt") != planted
        })
        .await;
    works(&cluster, "ending").await;
}

#[kubewright_testing::test(nodes = 1)]
async fn a_ca_bundle_that_somebody_removes_or_replaces_is_put_right(cluster: Cluster) {
    cluster.run_managed(operator).await;
    active(&cluster, set("distrusted", json!({}))).await;
    let other = Authority::valid_from("other", cluster.clock().now(), 365);
    let other = other.expect("an authority").certificate_pem().into_bytes();
    for wrong in [None, Some(ByteString(other))] {
        distrust(&cluster, wrong.as_ref()).await;
        works(&cluster, "distrusted").await;
    }
    assert!(cluster.get::<SidecarSet>("distrusted").await.is_some());
}

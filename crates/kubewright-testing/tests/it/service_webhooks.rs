//! A webhook server on loopback, behind a Service of the embedded cluster. The test runs on real
//! time, because sockets do not use virtual time.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::Api;
use kube::api::PostParams;
use kubewright::prelude::*;
use kubewright::webhook::pki::Authority;
use kubewright::webhook::{
    CertificateSource, Certificates, Change, Findings, IdempotenceCheck, Incoming, WebhookServing,
};
use kubewright::{RunOptions, Running};
use kubewright_testing::Cluster;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpListener;

fn object<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).expect("the object is of its kind")
}

fn check(change: &Change<ConfigMap>, findings: &mut Findings) {
    if change.object().is_some_and(|map| map.data.is_none()) {
        findings.required("data", "");
    }
}

/// Serves the webhook on loopback, with a certificate for the Service `guard`.
async fn serve(cluster: &Cluster) -> (Running, u16, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let port = listener.local_addr().expect("an address").port();
    let authority = Authority::valid_from("guard", cluster.clock().now(), 30);
    let authority = authority.expect("an authority");
    let host = format!("guard.{}.svc", cluster.namespace());
    let pair = authority.issue_server(&[&host]).expect("a certificate");
    let options = RunOptions {
        clock: cluster.clock(),
        webhooks: Some(WebhookServing {
            incoming: Incoming::Socket(listener),
            certificates: Certificates::new(&pair).expect("a certificate"),
            source: CertificateSource::Static,
            idempotence: IdempotenceCheck::Off,
        }),
        ..RunOptions::default()
    };
    let operator = Operator::new("guard").webhook(Webhook::validates(check));
    let running = operator
        .start(cluster.client(), options)
        .expect("it starts");
    running.ready().await;
    (running, port, STANDARD.encode(authority.certificate_pem()))
}

/// Creates a ConfigMap with this content, as a dry run.
async fn dry_run(cluster: &Cluster, data: Value) -> Result<(), String> {
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), cluster.namespace());
    let map = object(json!({"metadata": {"name": "m"}, "data": data}));
    let created = maps.create(&params, &map).await;
    created.map(drop).map_err(|error| error.to_string())
}

#[tokio::test]
async fn service_webhook_is_called_at_the_addresses_of_endpoint_slices() {
    let cluster = Cluster::embedded().named("service_webhooks").start().await;
    let cluster = cluster.expect("a cluster");
    let (running, port, authority) = serve(&cluster).await;
    let namespace = cluster.namespace();
    let service = object::<Service>(json!({"metadata": {"name": "guard"},
        "spec": {"ports": [{"name": "web", "port": 443}]}}));
    cluster.create(service).await;
    let configuration = object::<ValidatingWebhookConfiguration>(json!({
        "metadata": {"name": "guard"},
        "webhooks": [{
            "name": "guard.kubewright.dev", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "timeoutSeconds": 5,
            "clientConfig": {"caBundle": authority, "service":
                {"name": "guard", "namespace": namespace, "path": "/validate--v1-configmap"}},
            "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
                "resources": ["configmaps"]}],
        }],
    }));
    cluster.create(configuration).await;

    let error = dry_run(&cluster, json!({"k": "v"})).await;
    let error = error.expect_err("there are no endpoints yet");
    assert!(
        error.contains("no endpoints available for service \"guard\""),
        "{error}"
    );
    let slice = object::<EndpointSlice>(json!({
        "metadata": {"name": "guard-1", "labels": {"kubernetes.io/service-name": "guard"}},
        "addressType": "IPv4",
        "ports": [{"name": "web", "port": port, "protocol": "TCP"}],
        "endpoints": [{"addresses": ["127.0.0.1"], "conditions": {"ready": true}}],
    }));
    cluster.create(slice).await;
    assert_eq!(dry_run(&cluster, json!({"k": "v"})).await, Ok(()));
    let error = dry_run(&cluster, Value::Null).await;
    let error = error.expect_err("it has no data");
    assert!(error.contains("data: Required value"), "{error}");

    running.stop().await;
    let error = dry_run(&cluster, json!({"k": "v"})).await;
    let error = error.expect_err("the server was stopped");
    assert!(
        error.contains(&format!(
            "dial tcp 127.0.0.1:{port}: connect: connection refused"
        )),
        "{error}"
    );
    cluster.close().await.expect("the cluster ends");
}

//! The metrics of webhooks.

use kubewright::RunOptions;
use kubewright::kube::Client;
use kubewright::metrics::{MetricsAccess, MetricsServing};
use kubewright::prelude::*;
use kubewright::webhook::{
    CertificateSource, Certificates, Change, Findings, IdempotenceCheck, Incoming, WebhookServing,
};
use kubewright_webhook::pki::Authority;
use kubewright_webhook::{PipeConnector, pipe};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::manager::get;
use crate::tls;

const PATH: &str = "/validate--v1-configmap";

fn check(change: &Change<ConfigMap>, _: &mut Findings) {
    let data = change.object().and_then(|map| map.data.clone());
    assert!(data.is_some(), "the function panics without data");
}

/// Sends a review of a ConfigMap to the webhook, and returns the response.
pub(crate) async fn review(
    connector: &PipeConnector,
    authority: &Authority,
    data: Value,
) -> String {
    let body = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {"uid": "u", "operation": "CREATE", "object":
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": data}},
    })
    .to_string();
    let pipe = connector.connect().await.expect("a connection");
    let mut stream = tls::connect(pipe, authority).await;
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.expect("a head");
    stream.write_all(body.as_bytes()).await.expect("a body");
    let mut response = String::new();
    // A peer that closes without a TLS alert has still sent the whole response.
    stream.read_to_string(&mut response).await.ok();
    response
}

/// The certificate is verified by the system clock, so time is not virtual.
#[tokio::test]
async fn metrics_of_webhooks_have_the_names_of_controller_runtime() {
    let empty = tower::service_fn(async |_: http::Request<kube::client::Body>| {
        Ok::<_, std::convert::Infallible>(http::Response::new(kube::client::Body::empty()))
    });
    let authority = Authority::new("guard").expect("an authority");
    let pair = authority
        .issue_server(&["localhost"])
        .expect("a certificate");
    let (reviews, webhooks) = pipe();
    let (scraper, metrics) = pipe();
    let options = RunOptions {
        webhooks: Some(WebhookServing {
            incoming: Incoming::Pipe(webhooks),
            certificates: Certificates::new(&pair).expect("a certificate"),
            source: CertificateSource::Static,
            idempotence: IdempotenceCheck::Off,
        }),
        metrics: Some(MetricsServing {
            incoming: Incoming::Pipe(metrics),
            access: MetricsAccess::Anyone,
        }),
        ..RunOptions::default()
    };
    let running = Operator::new("guard")
        .webhook(Webhook::validates(check))
        .start(Client::new(empty, "default"), options)
        .expect("it starts");
    running.ready().await;
    let has = async |lines: &[&str]| {
        let (code, text) = get(&scraper, "/metrics", None).await;
        assert_eq!(code, 200);
        for line in lines {
            assert!(
                text.lines().any(|written| written == *line),
                "{line} in {text}"
            );
        }
    };
    has(&[
        r#"controller_runtime_webhook_requests_total{code="200",webhook="/validate--v1-configmap"} 0"#,
        "controller_runtime_webhook_panics_total 0",
    ])
    .await;
    let response = review(&reviews, &authority, json!({"k": "v"})).await;
    assert!(response.contains(r#""allowed":true"#), "{response}");
    let response = review(&reviews, &authority, Value::Null).await;
    assert!(response.contains("panicked"), "{response}");
    has(&[
        r#"controller_runtime_webhook_requests_total{code="200",webhook="/validate--v1-configmap"} 2"#,
        r#"controller_runtime_webhook_requests_total{code="500",webhook="/validate--v1-configmap"} 0"#,
        r#"controller_runtime_webhook_requests_in_flight{webhook="/validate--v1-configmap"} 0"#,
        r#"controller_runtime_webhook_latency_seconds_bucket{webhook="/validate--v1-configmap",le="1000"} 2"#,
        r#"controller_runtime_webhook_latency_seconds_count{webhook="/validate--v1-configmap"} 2"#,
        "controller_runtime_webhook_panics_total 1",
        "controller_runtime_conversion_webhook_panics_total 0",
    ])
    .await;
    running.stop().await;
}

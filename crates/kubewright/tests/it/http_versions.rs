//! The HTTP versions of an operator's webhooks.

use kubewright::RunOptions;
use kubewright::kube::Client;
use kubewright::prelude::*;
use kubewright::webhook::{
    CertificateSource, Certificates, Change, Findings, IdempotenceCheck, Incoming, WebhookServing,
};
use kubewright_webhook::pipe;
use kubewright_webhook::pki::Authority;

use crate::tls;

fn check(_: &Change<ConfigMap>, _: &mut Findings) {}

/// The certificate is verified by the system clock, so time is not virtual.
#[tokio::test]
async fn http2_is_negotiated_only_with_the_feature() {
    let empty = tower::service_fn(async |_: http::Request<kube::client::Body>| {
        Ok::<_, std::convert::Infallible>(http::Response::new(kube::client::Body::empty()))
    });
    let authority = Authority::new("guard").expect("an authority");
    let pair = authority
        .issue_server(&["localhost"])
        .expect("a certificate");
    let (connector, listener) = pipe();
    let options = RunOptions {
        webhooks: Some(WebhookServing {
            incoming: Incoming::Pipe(listener),
            certificates: Certificates::new(&pair).expect("a certificate"),
            source: CertificateSource::Static,
            idempotence: IdempotenceCheck::Off,
        }),
        ..RunOptions::default()
    };
    let running = Operator::new("guard")
        .webhook(Webhook::validates(check))
        .start(Client::new(empty, "default"), options)
        .expect("it starts");
    running.ready().await;
    let expected = if cfg!(feature = "http2") {
        "h2"
    } else {
        "http/1.1"
    };
    let pipe = connector.connect().await.expect("a connection");
    let stream = tls::connect_with(pipe, &authority, &["h2", "http/1.1"]).await;
    let chosen = stream.get_ref().1.alpn_protocol();
    assert_eq!(chosen, Some(expected.as_bytes()));
    drop(stream);
    running.stop().await;
}

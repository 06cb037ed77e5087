//! Which HTTP the webhooks of an operator speak.

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

/// A certificate is checked by the machine's clock here, so time is not virtual.
#[tokio::test]
async fn http2_is_offered_when_the_feature_is_asked_for_and_only_then() {
    let nowhere = tower::service_fn(async |_: http::Request<kube::client::Body>| {
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
        .start(Client::new(nowhere, "default"), options)
        .expect("it starts");
    running.ready().await;
    let expected = match cfg!(feature = "http2") {
        true => "h2",
        false => "http/1.1",
    };
    let stream = connector.connect().await.expect("a connection");
    let stream = tls::connect_by(stream, &authority, &["h2", "http/1.1"]).await;
    let chosen = stream.get_ref().1.alpn_protocol();
    assert_eq!(chosen, Some(expected.as_bytes()));
    drop(stream);
    running.stop().await;
}

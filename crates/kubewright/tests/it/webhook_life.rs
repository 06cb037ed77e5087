//! The time during which webhooks are served.

use std::sync::Arc;
use std::time::Duration;

use kubewright::RunOptions;
use kubewright::election::ElectionOptions;
use kubewright::kube::Client;
use kubewright::prelude::*;
use kubewright::webhook::{
    Admission, CertificateSource, Certificates, Change, Findings, IdempotenceCheck, Incoming,
    ManagedCertificates, WebhookServing,
};
use kubewright_testing::Cluster;
use kubewright_webhook::pki::Authority;
use kubewright_webhook::{PipeConnector, pipe};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::{advance, sleep};

use crate::example_code::manager;
use crate::manager::{OWN, copy, install, led_by};
use crate::webhook_metrics::review;

fn check(_: &Change<ConfigMap>, _: &mut Findings) {}

/// Returns a client whose responses are empty.
fn client() -> Client {
    let empty = tower::service_fn(async |_: http::Request<kube::client::Body>| {
        Ok::<_, std::convert::Infallible>(http::Response::new(kube::client::Body::empty()))
    });
    Client::new(empty, "default")
}

/// Returns a server of webhooks within this process, with a connector and its authority.
fn serving() -> (PipeConnector, Authority, WebhookServing) {
    let authority = Authority::new("guard").expect("an authority");
    let pair = authority
        .issue_server(&["localhost"])
        .expect("a certificate");
    let (connector, listener) = pipe();
    let serving = WebhookServing {
        incoming: Incoming::Pipe(listener),
        certificates: Certificates::new(&pair).expect("a certificate"),
        source: CertificateSource::Static,
        idempotence: IdempotenceCheck::Off,
    };
    (connector, authority, serving)
}

#[kubewright_testing::test]
async fn standby_serves_webhooks(cluster: Cluster) {
    install(&cluster).await;
    let leader = copy(&cluster, "one", RunOptions::default());
    led_by(&cluster, &leader, "the first to lead").await;
    let (connector, authority, serving) = serving();
    let options = RunOptions {
        clock: cluster.clock(),
        webhooks: Some(serving),
        election: Some(ElectionOptions {
            identity: Some("two".to_owned()),
            ..ElectionOptions::new(OWN)
        }),
        ..RunOptions::default()
    };
    let operator = manager::operator().webhook(Webhook::validates(check));
    let standby = operator
        .start(cluster.client(), options)
        .expect("it starts");
    standby.ready().await;
    assert!(leader.leadership().is_leading() && !standby.leadership().is_leading());
    let response = review(&connector, &authority, json!({"k": "v"})).await;
    assert!(response.contains(r#""allowed":true"#), "{response}");
    standby.stop().await;
    leader.stop().await;
}

/// Without a working API server, a managed certificate cannot be created.
#[tokio::test(start_paused = true)]
async fn operator_is_ready_only_when_its_webhooks_are_served() {
    let (connector, _authority, static_certificate) = serving();
    let (_, listener) = pipe();
    let managed_certificate = WebhookServing {
        incoming: Incoming::Pipe(listener),
        certificates: Certificates::none(),
        source: CertificateSource::Managed(ManagedCertificates::of_service("guard", "tools")),
        idempotence: IdempotenceCheck::Off,
    };
    for (serving, is_served) in [(static_certificate, true), (managed_certificate, false)] {
        let options = RunOptions {
            webhooks: Some(serving),
            ..RunOptions::default()
        };
        let operator = Operator::new("guard").webhook(Webhook::validates(check));
        let running = operator.start(client(), options).expect("it starts");
        advance(Duration::from_secs(20)).await;
        sleep(Duration::from_millis(1)).await;
        let problems = running.problems().await;
        let is_waiting = problems.iter().any(|problem| problem.contains("webhooks"));
        assert_eq!(is_waiting, !is_served, "{problems:?}");
        running.stop().await;
    }
    drop(connector);
}

/// The running work exceeds the grace period.
#[tokio::test(start_paused = true)]
async fn request_in_flight_gets_its_response_when_the_operator_stops() {
    let started = Arc::new(Notify::new());
    let start = Arc::clone(&started);
    let slow = move |_: Change<ConfigMap>, _: Admission| {
        let start = Arc::clone(&start);
        async move {
            start.notify_one();
            sleep(Duration::from_secs(4)).await;
            Ok(Findings::default())
        }
    };
    let (connector, authority, serving) = serving();
    let options = RunOptions {
        webhooks: Some(serving),
        grace: Duration::from_secs(1),
        ..RunOptions::default()
    };
    let running = Operator::new("guard")
        .webhook(Webhook::validates_async(slow))
        .task("endless", |_| std::future::pending())
        .start(client(), options)
        .expect("it starts");
    running.ready().await;
    let request = review(&connector, &authority, json!({"k": "v"}));
    let stop = async {
        started.notified().await;
        running.stop().await;
    };
    let (response, ()) = tokio::join!(request, stop);
    assert!(response.contains(r#""allowed":true"#), "{response:?}");
}

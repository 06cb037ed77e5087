//! When webhooks are served, and until when.

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

use crate::manager::{OWN, copy, install, led_by};
use crate::shown::manager;
use crate::webhook_metrics::ask;

fn check(_: &Change<ConfigMap>, _: &mut Findings) {}

fn nowhere() -> Client {
    let nowhere = tower::service_fn(async |_: http::Request<kube::client::Body>| {
        Ok::<_, std::convert::Infallible>(http::Response::new(kube::client::Body::empty()))
    });
    Client::new(nowhere, "default")
}

/// Webhooks within this process, and who vouches for them.
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
async fn a_standby_serves_webhooks_without_leading(cluster: Cluster) {
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
    let standby = operator.start(cluster.client(), options);
    let standby = standby.expect("it starts");
    standby.ready().await;
    assert!(leader.leadership().is_leading() && !standby.leadership().is_leading());
    let answer = ask(&connector, &authority, json!({"k": "v"})).await;
    assert!(answer.contains(r#""allowed":true"#), "{answer}");
    standby.stop().await;
    leader.stop().await;
}

/// Nobody answers who would keep the certificate.
#[tokio::test(start_paused = true)]
async fn an_operator_is_ready_only_when_its_webhooks_are_served() {
    let (connector, _authority, given) = serving();
    let (_, listener) = pipe();
    let waiting = WebhookServing {
        incoming: Incoming::Pipe(listener),
        certificates: Certificates::none(),
        source: CertificateSource::Managed(ManagedCertificates::of_service("guard", "tools")),
        idempotence: IdempotenceCheck::Off,
    };
    for (serving, is_served) in [(given, true), (waiting, false)] {
        let options = RunOptions {
            webhooks: Some(serving),
            ..RunOptions::default()
        };
        let operator = Operator::new("guard").webhook(Webhook::validates(check));
        let running = operator.start(nowhere(), options).expect("it starts");
        advance(Duration::from_secs(20)).await;
        sleep(Duration::from_millis(1)).await;
        let problems = running.problems().await;
        let waits = problems.iter().any(|one| one.contains("webhooks"));
        assert_eq!(waits, !is_served, "{problems:?}");
        running.stop().await;
    }
    drop(connector);
}

/// The work takes all of the grace period and longer.
#[tokio::test(start_paused = true)]
async fn a_question_under_way_is_answered_however_long_the_work_takes_to_end() {
    let begun = Arc::new(Notify::new());
    let told = Arc::clone(&begun);
    let slow = move |_: Change<ConfigMap>, _: Admission| {
        let told = Arc::clone(&told);
        async move {
            told.notify_one();
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
        .start(nowhere(), options)
        .expect("it starts");
    running.ready().await;
    let asked = ask(&connector, &authority, json!({"k": "v"}));
    let stopped = async {
        begun.notified().await;
        running.stop().await;
    };
    let (answer, ()) = tokio::join!(asked, stopped);
    assert!(answer.contains(r#""allowed":true"#), "{answer:?}");
}

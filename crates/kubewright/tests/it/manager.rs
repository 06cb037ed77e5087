//! Several copies of one operator: leader election, probes and metrics.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::ServiceAccount;
use kubewright::client::{ClientLimits, RateLimit};
use kubewright::election::ElectionOptions;
use kubewright::kube::Client;
use kubewright::metrics::{MetricsAccess, MetricsServing};
use kubewright::prelude::*;
use kubewright::webhook::{Certificates, Incoming};
use kubewright::{RunOptions, Running};
use kubewright_testing::Cluster;
use kubewright_webhook::pki::Authority;
use kubewright_webhook::{PipeConnector, pipe};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::example_code::manager;
use crate::tls;

/// The namespace of the operator in its manifests.
pub(crate) const OWN: &str = "lamplighter-system";

/// Installs the manifests of the operator without running it.
pub(crate) async fn install(cluster: &Cluster) {
    cluster.run(manager::operator).await;
    cluster.stop_operator().await;
}

pub(crate) fn copy(cluster: &Cluster, identity: &str, mut options: RunOptions) -> Running {
    options.clock = cluster.clock();
    options.election = Some(ElectionOptions {
        identity: Some(identity.to_owned()),
        ..ElectionOptions::new(OWN)
    });
    let started = manager::operator().start(cluster.client(), options);
    started.expect("it starts")
}

pub(crate) async fn led_by(cluster: &Cluster, running: &Running, what: &str) {
    cluster
        .eventually(what, async |_| running.leadership().is_leading())
        .await;
}

fn lamp(name: &str) -> manager::Lamp {
    manager::Lamp::new(name, manager::LampSpec { on: true })
}

async fn is_lit(cluster: &Cluster, name: &str) -> bool {
    let lamp = cluster.get::<manager::Lamp>(name).await;
    lamp.and_then(|lamp| lamp.status)
        .is_some_and(|status| status.lit)
}

fn runs(running: &Running) -> u64 {
    running.controllers()[0].metrics().successes
}

#[kubewright_testing::test]
async fn second_copy_takes_over_when_the_leader_stops(cluster: Cluster) {
    install(&cluster).await;
    let one = copy(&cluster, "one", RunOptions::default());
    led_by(&cluster, &one, "the first to lead").await;
    let two = copy(&cluster, "two", RunOptions::default());
    two.ready().await;
    cluster.apply(lamp("gate")).await;
    cluster
        .eventually("the lamp to be lit", async |c| is_lit(c, "gate").await)
        .await;
    assert!(runs(&one) > 0 && runs(&two) == 0);
    // The second copy is ready to take over: its cache has the lamp.
    assert_eq!(two.problems().await, Vec::<String>::new());
    one.stop().await;
    let lease = cluster.in_namespace(OWN).get::<Lease>("lamplighter").await;
    let holder = lease.and_then(|lease| lease.spec?.holder_identity);
    assert_ne!(holder.as_deref(), Some("one"));
    led_by(&cluster, &two, "the second to lead").await;
    cluster.apply(lamp("bridge")).await;
    cluster
        .eventually("the next lamp to be lit", async |c| {
            is_lit(c, "bridge").await
        })
        .await;
    two.stop().await;
}

#[kubewright_testing::test]
async fn work_stops_when_the_lease_is_lost_and_continues_when_it_is_free(cluster: Cluster) {
    install(&cluster).await;
    let running = copy(&cluster, "one", RunOptions::default());
    led_by(&cluster, &running, "it to lead").await;
    let own = cluster.in_namespace(OWN);
    let thief = json!({"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 3600}});
    own.patch::<Lease>("lamplighter", thief).await;
    cluster
        .eventually("it to stop", async |_| !running.leadership().is_leading())
        .await;
    let before = runs(&running);
    cluster.apply(lamp("gate")).await;
    cluster
        .consistently(Duration::from_secs(4), "the lamp stays dark", async |c| {
            !is_lit(c, "gate").await
        })
        .await;
    assert_eq!(runs(&running), before);
    own.patch::<Lease>("lamplighter", json!({"spec": {"holderIdentity": ""}}))
        .await;
    cluster
        .eventually("the lamp to be lit", async |c| is_lit(c, "gate").await)
        .await;
    running.stop().await;
}

/// The rate is too low for any request after those of the start.
#[kubewright_testing::test]
async fn lease_is_renewed_beyond_the_rate_limit_of_requests(cluster: Cluster) {
    install(&cluster).await;
    let limits = ClientLimits {
        rate_limit: Some(RateLimit {
            per_second: 0.001,
            burst: 8,
        }),
        ..ClientLimits::default()
    };
    let options = RunOptions {
        limits,
        ..RunOptions::default()
    };
    let running = copy(&cluster, "one", options);
    led_by(&cluster, &running, "it to lead").await;
    cluster
        .consistently(Duration::from_secs(25), "it keeps leading", async |_| {
            running.leadership().is_leading()
        })
        .await;
    running.stop().await;
}

#[kubewright_testing::test]
async fn election_options_need_a_registered_election(cluster: Cluster) {
    let options = RunOptions {
        election: Some(ElectionOptions::new("default")),
        ..RunOptions::default()
    };
    let started = Operator::new("alone").start(cluster.client(), options);
    let error = started.expect_err("an error").to_string();
    assert!(error.contains(".leader_election("), "{error}");
}

#[kubewright_testing::test]
async fn readiness_names_the_cache_that_is_not_filled(cluster: Cluster) {
    let (connector, listener) = pipe();
    let options = RunOptions {
        clock: cluster.clock(),
        probes: Some(Incoming::Pipe(listener)),
        ..RunOptions::default()
    };
    // The definition of its kind is not installed.
    let running = manager::operator()
        .start(cluster.client(), options)
        .expect("it starts");
    let probe = async |path: &str| get(&connector, path, None).await;
    assert_eq!(probe("/healthz").await, (200, "ok".to_owned()));
    cluster
        .eventually("the reason", async |_| {
            let (code, text) = probe("/readyz/caches").await;
            code == 500
                && text.contains("lamps")
                && text.contains("install its CustomResourceDefinition")
        })
        .await;
    let (code, text) = probe("/readyz").await;
    assert_eq!(code, 500);
    assert!(text.contains("[-]caches failed: reason withheld"), "{text}");
    assert!(text.contains("[+]oil ok"), "{text}");
    install(&cluster).await;
    cluster
        .eventually("readiness", async |_| probe("/readyz").await.0 == 200)
        .await;
    running.stop().await;
}

#[kubewright_testing::test]
async fn metrics_have_the_names_of_controller_runtime(cluster: Cluster) {
    install(&cluster).await;
    let (connector, listener) = pipe();
    let options = RunOptions {
        metrics: Some(MetricsServing {
            incoming: Incoming::Pipe(listener),
            access: MetricsAccess::Anyone,
        }),
        ..RunOptions::default()
    };
    let running = copy(&cluster, "one", options);
    cluster.apply(lamp("gate")).await;
    cluster
        .eventually("the lamp to be lit", async |c| is_lit(c, "gate").await)
        .await;
    let success = r#"controller_runtime_reconcile_total{controller="lamp",result="success"}"#;
    // A reconcile is counted after its last write.
    cluster
        .eventually("the reconcile to be counted", async |_| {
            let (_, text) = get(&connector, "/metrics", None).await;
            !text.contains(&format!("{success} 0"))
        })
        .await;
    let (code, text) = get(&connector, "/metrics", None).await;
    assert_eq!(code, 200);
    let value = |sample: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(sample));
        let value = line.and_then(|rest| rest.trim().parse::<f64>().ok());
        value.unwrap_or_else(|| panic!("{sample} in {text}"))
    };
    assert!(value(success) >= 1.0);
    assert!(value(r#"workqueue_adds_total{controller="lamp",name="lamp"}"#) >= 1.0);
    assert_eq!(
        value(r#"leader_election_master_status{name="lamplighter"}"#),
        1.0
    );
    assert!(value(r#"rest_client_requests_total{code="200",host="",method="PATCH"}"#) >= 1.0);
    assert_eq!(value("lamps_switched_total"), 1.0);
    assert!(value("process_resident_memory_bytes") > 1e6);
    let objects = r#"kubewright_informer_objects{content="whole",namespace="",resource="lamps.examples.kubewright.dev",selector=""}"#;
    assert_eq!(value(objects), 1.0);
    assert_eq!(get(&connector, "/", None).await.0, 404);
    running.stop().await;
}

#[kubewright_testing::test]
async fn secured_metrics_are_readable_for_authorized_users(cluster: Cluster) {
    install(&cluster).await;
    let (connector, listener) = pipe();
    let authority = Authority::new("metrics").expect("an authority");
    let pair = authority
        .issue_server(&["localhost"])
        .expect("a certificate");
    let options = RunOptions {
        metrics: Some(MetricsServing {
            incoming: Incoming::Pipe(listener),
            access: MetricsAccess::Reviewed {
                certificates: Certificates::new(&pair).expect("a certificate"),
                files: None,
            },
        }),
        ..RunOptions::default()
    };
    let running = copy(&cluster, "one", options);
    let scrape = async |token: Option<&str>| {
        let pipe = connector.connect().await.expect("a connection");
        let stream = tls::connect(pipe, &authority).await;
        exchange(stream, "/metrics", token).await
    };
    assert_eq!(scrape(None).await.0, 401);
    assert_eq!(scrape(Some("invalid.token.text")).await.0, 401);
    for name in ["stranger", "scraper"] {
        let account = json!({"metadata": {"name": name}});
        let account: ServiceAccount = serde_json::from_value(account).expect("an account");
        cluster.apply(account).await;
    }
    let stranger = token(&cluster, "stranger").await;
    let (code, text) = scrape(Some(&stranger)).await;
    let denied = format!(
        "Authorization denied for user system:serviceaccount:{}:stranger\n",
        cluster.namespace()
    );
    assert_eq!((code, text), (403, denied));
    allow(&cluster, "scraper").await;
    let scraper = token(&cluster, "scraper").await;
    // A real API server watches roles with a delay, and a denial is cached for half a minute.
    cluster
        .eventually_within(Duration::from_secs(90), "the metrics", async |_| {
            let (code, text) = scrape(Some(&scraper)).await;
            code == 200 && text.contains("workqueue_depth")
        })
        .await;
    running.stop().await;
}

/// Grants an account of the test to read `/metrics`, by the role in the manifests.
async fn allow(cluster: &Cluster, name: &str) {
    use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
    let description = manager::operator().description();
    let options = Default::default();
    let objects = kubewright_manifest::deployment(&description, &options, "r/lamplighter:1");
    let reader = objects
        .into_iter()
        .find(|object| object["metadata"]["name"] == "lamplighter-metrics-reader")
        .expect("a role for readers");
    let role: ClusterRole = serde_json::from_value(reader).expect("a role");
    cluster.apply(role).await;
    let binding = json!({
        "metadata": {"name": format!("{}-reads-metrics", cluster.namespace())},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "lamplighter-metrics-reader",
        },
        "subjects": [{
            "kind": "ServiceAccount", "name": name, "namespace": cluster.namespace(),
        }],
    });
    let binding: ClusterRoleBinding = serde_json::from_value(binding).expect("a binding");
    cluster.apply(binding).await;
}

async fn token(cluster: &Cluster, name: &str) -> String {
    let client: Client = cluster.client();
    let namespace = cluster.namespace();
    let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token");
    let body = json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"expirationSeconds": 3600},
    });
    let request = http::Request::post(path)
        .header("content-type", "application/json")
        .body(body.to_string().into_bytes())
        .expect("a request");
    let response: serde_json::Value = client.request(request).await.expect("a token");
    response["status"]["token"]
        .as_str()
        .expect("a token")
        .to_owned()
}

pub(crate) async fn get(
    connector: &PipeConnector,
    path: &str,
    token: Option<&str>,
) -> (u16, String) {
    let stream = connector.connect().await.expect("a connection");
    exchange(stream, path, token).await
}

async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    path: &str,
    token: Option<&str>,
) -> (u16, String) {
    let authorization = token
        .map(|token| format!("authorization: Bearer {token}\r\n"))
        .unwrap_or_default();
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{authorization}\r\n"
    );
    let sent = stream.write_all(request.as_bytes()).await;
    sent.expect("a request");
    let mut response = String::new();
    // A peer that closes without a TLS alert has still sent the whole response.
    stream.read_to_string(&mut response).await.ok();
    let (head, body) = response.split_once("\r\n\r\n").expect("a head");
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    (code.expect("a code"), body.to_owned())
}

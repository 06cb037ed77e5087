//! Several copies of one operator, and what they answer to those who look after them.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::ServiceAccount;
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

use crate::shown::manager;
use crate::tls;

/// Where the operator's manifests put it.
pub(crate) const OWN: &str = "lamplighter-system";

/// Installs what the operator needs; nobody runs yet.
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
    lamp.and_then(|lamp| lamp.status).is_some_and(|one| one.lit)
}

fn runs(running: &Running) -> u64 {
    running.controllers()[0].metrics().successes
}

#[kubewright_testing::test]
async fn of_two_copies_one_works_and_the_other_takes_over_when_it_stops(cluster: Cluster) {
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
    // The second is ready to go on at once: its cache has the lamp.
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
async fn a_stolen_lease_stops_the_work_and_a_free_one_lets_it_go_on(cluster: Cluster) {
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
        .consistently(Duration::from_secs(4), "it stays dark", async |c| {
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

#[kubewright_testing::test]
async fn an_operator_without_an_election_cannot_be_a_candidate(cluster: Cluster) {
    let options = RunOptions {
        election: Some(ElectionOptions::new("default")),
        ..RunOptions::default()
    };
    let started = Operator::new("alone").start(cluster.client(), options);
    let error = started.expect_err("a refusal").to_string();
    assert!(error.contains(".leader_election("), "{error}");
}

#[kubewright_testing::test]
async fn readiness_names_the_cache_that_is_missing_until_it_is_there(cluster: Cluster) {
    let (connector, listener) = pipe();
    let options = RunOptions {
        clock: cluster.clock(),
        probes: Some(Incoming::Pipe(listener)),
        ..RunOptions::default()
    };
    // Its definition is not installed.
    let running = manager::operator()
        .start(cluster.client(), options)
        .expect("it starts");
    let ask = async |path: &str| get(&connector, path, None).await;
    assert_eq!(ask("/healthz").await, (200, "ok".to_owned()));
    cluster
        .eventually("the reason to be told", async |_| {
            let (code, text) = ask("/readyz/caches").await;
            code == 500
                && text.contains("lamps")
                && text.contains("install its CustomResourceDefinition")
        })
        .await;
    let (code, text) = ask("/readyz").await;
    assert_eq!(code, 500);
    assert!(text.contains("[-]caches failed: reason withheld"), "{text}");
    assert!(text.contains("[+]oil ok"), "{text}");
    install(&cluster).await;
    cluster
        .eventually("readiness", async |_| ask("/readyz").await.0 == 200)
        .await;
    running.stop().await;
}

#[kubewright_testing::test]
async fn metrics_carry_the_names_of_controller_runtime(cluster: Cluster) {
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
async fn secured_metrics_are_read_by_those_whom_the_api_server_lets(cluster: Cluster) {
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
    let ask = async |token: Option<&str>| {
        let stream = connector.connect().await.expect("a connection");
        let stream = tls::connect(stream, &authority).await;
        exchange(stream, "/metrics", token).await
    };
    assert_eq!(ask(None).await.0, 401);
    assert_eq!(ask(Some("made.up.token")).await.0, 401);
    for name in ["stranger", "scraper"] {
        let account = json!({"metadata": {"name": name}});
        let account: ServiceAccount = serde_json::from_value(account).expect("an account");
        cluster.apply(account).await;
    }
    let stranger = token(&cluster, "stranger").await;
    let (code, text) = ask(Some(&stranger)).await;
    let denied = format!(
        "Authorization denied for user system:serviceaccount:{}:stranger\n",
        cluster.namespace()
    );
    assert_eq!((code, text), (403, denied));
    allow(&cluster, "scraper").await;
    let scraper = token(&cluster, "scraper").await;
    // A real API server learns of roles by watching; a refusal is remembered for half a minute.
    cluster
        .eventually_within(Duration::from_secs(90), "the metrics", async |_| {
            let (code, text) = ask(Some(&scraper)).await;
            code == 200 && text.contains("workqueue_depth")
        })
        .await;
    running.stop().await;
}

/// Lets an account of the test read `/metrics`, by the role that the manifests have for that.
async fn allow(cluster: &Cluster, name: &str) {
    use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
    let description = manager::operator().description();
    let options = Default::default();
    let objects = kubewright_manifest::deployment(&description, &options, "r/lamplighter:1");
    let reader = objects
        .into_iter()
        .find(|one| one["metadata"]["name"] == "lamplighter-metrics-reader")
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
    let answer: serde_json::Value = client.request(request).await.expect("a token");
    answer["status"]["token"]
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
    let token = token.map(|token| format!("authorization: Bearer {token}\r\n"));
    let token = token.unwrap_or_default();
    let head =
        format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{token}\r\n");
    stream.write_all(head.as_bytes()).await.expect("a request");
    let mut answer = String::new();
    // A peer that closes without a farewell has still said everything.
    stream.read_to_string(&mut answer).await.unwrap_or_default();
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    (code.expect("a code"), body.to_owned())
}

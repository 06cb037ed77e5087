//! The certificate that an operator looks after itself, over virtual months.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::Client;
use kubewright::prelude::*;
use kubewright::webhook::{
    CertificateSource, Certificates, Change, Findings, IdempotenceCheck, Incoming,
    ManagedCertificates, WebhookServing,
};
use kubewright::{Clock, RunOptions, Running};
use kubewright_apiserver::{Server, ServerOptions, User};
use kubewright_manifest::{ManifestOptions, WebhookCertificates, objects};
use kubewright_webhook::{PipeConnector, pipe};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{DuplexStream, copy_bidirectional};
use tokio::task::JoinSet;

const HOST: &str = "tidy-webhook.tidy-system.svc";
const CONFIGURATION: &str =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/tidy";
const SECRET: &str = "/api/v1/namespaces/tidy-system/secrets/tidy-webhook";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn check(change: &Change<ConfigMap>, findings: &mut Findings) {
    if change.object().is_some_and(|map| map.data.is_none()) {
        findings.required("data", "");
    }
}

fn operator() -> Operator {
    Operator::new("tidy").webhook(Webhook::validates(check))
}

/// A server with the operator's manifests, and replicas that serve its webhook in turn.
struct World {
    admin: Client,
    replicas: Vec<Running>,
    /// What carries the server's connections to the replicas.
    lines: Lines,
}

/// Connections to replicas, which can be cut.
#[derive(Clone, Default)]
struct Lines {
    open: Arc<Mutex<JoinSet<()>>>,
    made: Arc<AtomicUsize>,
}

impl Lines {
    async fn connect(self, to: PipeConnector) -> io::Result<DuplexStream> {
        let mut there = to.connect().await?;
        let (near, mut far) = tokio::io::duplex(64 * 1024);
        self.made.fetch_add(1, Ordering::Relaxed);
        self.open.lock().spawn(async move {
            // Either side may leave when it likes.
            copy_bidirectional(&mut far, &mut there).await.ok();
        });
        Ok(near)
    }

    async fn cut(&self) {
        let mut open = std::mem::take(&mut *self.open.lock());
        open.shutdown().await;
    }
}

impl World {
    async fn start(replicas: usize) -> Self {
        let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse().expect("a time"));
        let server = Server::new(ServerOptions {
            clock: clock.clone(),
            ..ServerOptions::default()
        });
        let admin = Client::new(server.service(User::admin()), "default");
        let options = ManifestOptions {
            certificates: WebhookCertificates::Managed,
            ..ManifestOptions::default()
        };
        for object in objects(&operator().description(), &options) {
            create(&admin, &object).await;
        }
        let account = User::service_account("tidy-system", "tidy");
        let mut connectors: Vec<PipeConnector> = Vec::new();
        let mut running = Vec::new();
        for _ in 0..replicas {
            let (connector, listener) = pipe();
            connectors.push(connector);
            let client = Client::new(server.service(account.clone()), "default");
            let options = RunOptions {
                clock: clock.clone(),
                webhooks: Some(WebhookServing {
                    incoming: Incoming::Pipe(listener),
                    certificates: Certificates::none(),
                    source: CertificateSource::Managed(ManagedCertificates::of_service(
                        "tidy",
                        "tidy-system",
                    )),
                    idempotence: IdempotenceCheck::Off,
                }),
                ..RunOptions::default()
            };
            running.push(operator().start(client, options).expect("it starts"));
        }
        for one in &mut running {
            one.ready().await;
        }
        let lines = Lines::default();
        let open = lines.clone();
        server.webhooks().register(
            HOST,
            Arc::new(move || {
                let next = open.made.load(Ordering::Relaxed) % connectors.len();
                Box::pin(open.clone().connect(connectors[next].clone()))
            }),
        );
        Self {
            admin,
            replicas: running,
            lines,
        }
    }

    /// Has the webhook judge a ConfigMap that is right, over a connection of its own: one that is
    /// kept would not ask for a certificate again.
    async fn judged(&self) -> Result<(), String> {
        self.lines.cut().await;
        self.judged_again().await
    }

    /// The same over the connection that waits, if there is one.
    async fn judged_again(&self) -> Result<(), String> {
        let path = "/api/v1/namespaces/default/configmaps?dryRun=All";
        let map = json!({"metadata": {"name": "c"}, "data": {"k": "v"}});
        let judged = send(&self.admin, "POST", path, &map).await;
        judged.map(drop)
    }

    async fn read(&self, path: &str) -> Value {
        let read = send(&self.admin, "GET", path, &Value::Null).await;
        read.expect("it is there")
    }

    async fn bundle(&self) -> Value {
        self.read(CONFIGURATION).await["webhooks"][0]["clientConfig"]["caBundle"].clone()
    }

    async fn set_bundle(&self, value: &Value) {
        let patch = json!([{"op": "add", "path": "/webhooks/0/clientConfig/caBundle",
            "value": value}]);
        let set = send(&self.admin, "PATCH", CONFIGURATION, &patch).await;
        set.expect("it is changed");
    }

    async fn stop(self) {
        for one in self.replicas {
            assert_eq!(one.permissions().refused(), Vec::<String>::new());
            one.stop().await;
        }
    }
}

async fn create(client: &Client, object: &Value) {
    let text = |pointer: &str| {
        let value = object.pointer(pointer).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let (version, kind) = (text("/apiVersion"), text("/kind"));
    let root = if version == "v1" { "/api" } else { "/apis" };
    let place = match text("/metadata/namespace").as_str() {
        "" => String::new(),
        namespace => format!("/namespaces/{namespace}"),
    };
    let path = format!("{root}/{version}{place}/{}s", kind.to_lowercase());
    send(client, "POST", &path, object)
        .await
        .expect("it is created");
}

async fn send(client: &Client, method: &str, path: &str, body: &Value) -> Result<Value, String> {
    let media_type = match method {
        "PATCH" => "application/json-patch+json",
        _ => "application/json",
    };
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("Content-Type", media_type)
        .body(body.to_string().into_bytes())
        .expect("a request");
    let answer = client.request(request).await;
    answer.map_err(|error: kube::Error| error.to_string())
}

fn authorities(bundle: &Value) -> usize {
    let bytes = STANDARD.decode(bundle.as_str().unwrap_or_default());
    let text = String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
    text.matches("BEGIN CERTIFICATE").count()
}

#[tokio::test(start_paused = true)]
async fn no_request_fails_while_authority_and_certificate_are_replaced() {
    let world = World::start(2).await;
    let (old_bundle, old_secret) = (world.bundle().await, world.read(SECRET).await);
    // Five minutes before the next one is due.
    tokio::time::advance(DAY * 245 - Duration::from_secs(300)).await;
    let (mut requests, mut failed, mut most) = (0, Vec::new(), 0);
    for _ in 0..2_100 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        requests += 1;
        failed.extend(world.judged().await.err());
        if requests % 10 == 0 {
            most = most.max(authorities(&world.bundle().await));
        }
    }
    assert_eq!(failed, Vec::<String>::new());
    assert!(requests >= 2_000);
    assert_eq!(most, 2, "both authorities were trusted for a while");
    let (bundle, secret) = (world.bundle().await, world.read(SECRET).await);
    assert_ne!(bundle, old_bundle);
    assert_eq!(authorities(&bundle), 1);
    assert_ne!(secret["data"]["tls.crt"], old_secret["data"]["tls.crt"]);
    assert_eq!(secret["data"]["next.key"], Value::Null);
    world.set_bundle(&old_bundle).await;
    let refused = world.judged().await.expect_err("the old one is trusted");
    assert!(
        refused.contains("certificate signed by unknown authority"),
        "{refused}"
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn one_connection_takes_many_questions_and_one_that_was_cut_costs_none() {
    let world = World::start(1).await;
    let made = || world.lines.made.load(Ordering::Relaxed);
    for _ in 0..5 {
        assert_eq!(world.judged_again().await, Ok(()));
    }
    assert_eq!(made(), 1);
    world.lines.cut().await;
    assert_eq!(world.judged_again().await, Ok(()));
    assert_eq!(made(), 2);
    world.set_bundle(&json!("")).await;
    let refused = world.judged_again().await;
    let refused = refused.expect_err("nobody vouches for the connection that waits");
    assert!(refused.contains("unknown authority"), "{refused}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_certificate_that_has_ended_is_replaced_at_the_first_look() {
    let world = World::start(2).await;
    let old = world.read(SECRET).await;
    tokio::time::advance(DAY * 400).await;
    // One look, and not a second one ten seconds later.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let new = world.read(SECRET).await;
    assert_ne!(new["data"]["tls.crt"], old["data"]["tls.crt"]);
    assert_eq!(world.bundle().await, new["data"]["ca.crt"]);
    assert_eq!(world.judged().await, Ok(()));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn three_replicas_that_start_at_once_share_one_certificate() {
    let world = World::start(3).await;
    let secret = world.read(SECRET).await;
    assert_eq!(secret["type"], "kubernetes.io/tls");
    assert_eq!(world.bundle().await, secret["data"]["ca.crt"]);
    for replica in 0..3 {
        assert_eq!(world.judged().await, Ok(()), "replica {replica}");
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_authority_that_somebody_removes_is_written_again() {
    let world = World::start(1).await;
    let right = world.bundle().await;
    let wrong = json!(
        STANDARD.encode(
            kubewright::webhook::pki::Authority::new("other")
                .expect("an authority")
                .certificate_pem()
        )
    );
    world.set_bundle(&wrong).await;
    assert!(world.judged().await.is_err());
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(world.bundle().await, right);
    assert_eq!(world.judged().await, Ok(()));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_somebody_deletes_is_made_anew() {
    let world = World::start(1).await;
    let old = world.bundle().await;
    let deleted = send(&world.admin, "DELETE", SECRET, &json!({})).await;
    deleted.expect("it is deleted");
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_ne!(world.bundle().await, old);
    assert_eq!(world.judged().await, Ok(()));
    world.stop().await;
}

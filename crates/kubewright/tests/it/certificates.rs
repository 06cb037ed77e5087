//! Managed certificates of an operator, over virtual months.

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
struct Fixture {
    admin: Client,
    replicas: Vec<Running>,
    /// The connections of the server to the replicas.
    connections: Connections,
}

/// Connections to replicas, which can be closed.
#[derive(Clone, Default)]
struct Connections {
    open: Arc<Mutex<JoinSet<()>>>,
    count: Arc<AtomicUsize>,
}

impl Connections {
    async fn connect(self, to: PipeConnector) -> io::Result<DuplexStream> {
        let mut there = to.connect().await?;
        let (near, mut far) = tokio::io::duplex(64 * 1024);
        self.count.fetch_add(1, Ordering::Relaxed);
        self.open.lock().spawn(async move {
            // It ends with an error if one side closes the connection.
            copy_bidirectional(&mut far, &mut there).await.ok();
        });
        Ok(near)
    }

    async fn close(&self) {
        let mut open = std::mem::take(&mut *self.open.lock());
        open.shutdown().await;
    }
}

impl Fixture {
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
        for replica in &running {
            replica.ready().await;
        }
        let connections = Connections::default();
        let shared = connections.clone();
        server.webhooks().register(
            HOST,
            Arc::new(move || {
                let next = shared.count.load(Ordering::Relaxed) % connectors.len();
                Box::pin(shared.clone().connect(connectors[next].clone()))
            }),
        );
        Self {
            admin,
            replicas: running,
            connections,
        }
    }

    /// Validates a valid ConfigMap over a new connection, which verifies the certificate again.
    async fn validate(&self) -> Result<(), String> {
        self.connections.close().await;
        self.validate_on_open_connection().await
    }

    /// Validates a valid ConfigMap over the open connection, if there is one.
    async fn validate_on_open_connection(&self) -> Result<(), String> {
        let path = "/api/v1/namespaces/default/configmaps?dryRun=All";
        let map = json!({"metadata": {"name": "c"}, "data": {"k": "v"}});
        let response = send(&self.admin, "POST", path, &map).await;
        response.map(drop)
    }

    async fn read(&self, path: &str) -> Value {
        let response = send(&self.admin, "GET", path, &Value::Null).await;
        response.expect("the object")
    }

    async fn bundle(&self) -> Value {
        self.read(CONFIGURATION).await["webhooks"][0]["clientConfig"]["caBundle"].clone()
    }

    async fn set_bundle(&self, value: &Value) {
        let patch = json!([{"op": "add", "path": "/webhooks/0/clientConfig/caBundle",
            "value": value}]);
        let response = send(&self.admin, "PATCH", CONFIGURATION, &patch).await;
        response.expect("it is changed");
    }

    async fn stop(self) {
        for replica in self.replicas {
            assert_eq!(replica.permissions().denied(), Vec::<String>::new());
            replica.stop().await;
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
    let namespace = match text("/metadata/namespace").as_str() {
        "" => String::new(),
        namespace => format!("/namespaces/{namespace}"),
    };
    let path = format!("{root}/{version}{namespace}/{}s", kind.to_lowercase());
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
    let response = client.request(request).await;
    response.map_err(|error: kube::Error| error.to_string())
}

fn authorities(bundle: &Value) -> usize {
    let bytes = STANDARD.decode(bundle.as_str().unwrap_or_default());
    let text = String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
    text.matches("BEGIN CERTIFICATE").count()
}

#[tokio::test(start_paused = true)]
async fn rotation_of_authority_and_certificate_fails_no_request() {
    let fixture = Fixture::start(2).await;
    let (old_bundle, old_secret) = (fixture.bundle().await, fixture.read(SECRET).await);
    // Five minutes before the next rotation is due.
    tokio::time::advance(DAY * 245 - Duration::from_secs(300)).await;
    let (mut requests, mut failed, mut most) = (0, Vec::new(), 0);
    for _ in 0..2_100 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        requests += 1;
        failed.extend(fixture.validate().await.err());
        if requests % 10 == 0 {
            most = most.max(authorities(&fixture.bundle().await));
        }
    }
    assert_eq!(failed, Vec::<String>::new());
    assert!(requests >= 2_000);
    assert_eq!(most, 2, "both authorities were trusted for a while");
    let (bundle, secret) = (fixture.bundle().await, fixture.read(SECRET).await);
    assert_ne!(bundle, old_bundle);
    assert_eq!(authorities(&bundle), 1);
    assert_ne!(secret["data"]["tls.crt"], old_secret["data"]["tls.crt"]);
    assert_eq!(secret["data"]["next.key"], Value::Null);
    fixture.set_bundle(&old_bundle).await;
    let validated = fixture.validate().await;
    let error = validated.expect_err("only the old authority is trusted");
    assert!(
        error.contains("certificate signed by unknown authority"),
        "{error}"
    );
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn connection_is_reused_and_replaced_after_it_is_closed() {
    let fixture = Fixture::start(1).await;
    let count = || fixture.connections.count.load(Ordering::Relaxed);
    for _ in 0..5 {
        assert_eq!(fixture.validate_on_open_connection().await, Ok(()));
    }
    assert_eq!(count(), 1);
    fixture.connections.close().await;
    assert_eq!(fixture.validate_on_open_connection().await, Ok(()));
    assert_eq!(count(), 2);
    fixture.set_bundle(&json!("")).await;
    let validated = fixture.validate_on_open_connection().await;
    let error = validated.expect_err("the open connection is not trusted any more");
    assert!(error.contains("unknown authority"), "{error}");
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn expired_certificate_is_replaced_at_the_first_check() {
    let fixture = Fixture::start(2).await;
    let old = fixture.read(SECRET).await;
    tokio::time::advance(DAY * 400).await;
    // One check, and not a second one ten seconds later.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let new = fixture.read(SECRET).await;
    assert_ne!(new["data"]["tls.crt"], old["data"]["tls.crt"]);
    assert_eq!(fixture.bundle().await, new["data"]["ca.crt"]);
    assert_eq!(fixture.validate().await, Ok(()));
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn replicas_that_start_at_once_share_one_certificate() {
    let fixture = Fixture::start(3).await;
    let secret = fixture.read(SECRET).await;
    assert_eq!(secret["type"], "kubernetes.io/tls");
    assert_eq!(fixture.bundle().await, secret["data"]["ca.crt"]);
    for replica in 0..3 {
        assert_eq!(fixture.validate().await, Ok(()), "replica {replica}");
    }
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn replaced_ca_bundle_is_written_again() {
    let fixture = Fixture::start(1).await;
    let right = fixture.bundle().await;
    let wrong = json!(
        STANDARD.encode(
            kubewright::webhook::pki::Authority::new("other")
                .expect("an authority")
                .certificate_pem()
        )
    );
    fixture.set_bundle(&wrong).await;
    assert!(fixture.validate().await.is_err());
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(fixture.bundle().await, right);
    assert_eq!(fixture.validate().await, Ok(()));
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn deleted_secret_is_created_again() {
    let fixture = Fixture::start(1).await;
    let old = fixture.bundle().await;
    let deleted = send(&fixture.admin, "DELETE", SECRET, &json!({})).await;
    deleted.expect("it is deleted");
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_ne!(fixture.bundle().await, old);
    assert_eq!(fixture.validate().await, Ok(()));
    fixture.stop().await;
}

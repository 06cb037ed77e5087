//! Connections to a cluster: kubeconfig, credentials and TLS.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::Client;
use kubewright_http::pki::{Authority, KeyPairPem, Subject, Usage};
use kubewright_runtime::client::{connect, load_config};
use rustls::crypto::ring::default_provider;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A file of a kubeconfig, removed when the value is dropped. JSON is valid YAML.
struct Kubeconfig(PathBuf);

impl Kubeconfig {
    fn new(name: &str, text: &str) -> Self {
        let name = format!("kubewright-connecting-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).expect("a file");
        Self(path)
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}

/// Returns two contexts. The second is current, and its user has a plugin for the token.
fn contexts(server: &str) -> Value {
    let credential = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
        "status": {"token": "sesame"},
    });
    let plugin = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
        "command": "sh", "args": ["-c", format!("echo '{credential}'")],
    });
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "second",
        "contexts": [
            {"name": "first", "context": {"cluster": "unreachable", "user": "anonymous"}},
            {"name": "second", "context": {
                "cluster": "local", "user": "plugin", "namespace": "shop",
            }},
        ],
        "clusters": [
            {"name": "unreachable", "cluster": {"server": "http://127.0.0.1:1"}},
            {"name": "local", "cluster": {"server": server}},
        ],
        "users": [
            {"name": "anonymous", "user": {}},
            {"name": "plugin", "user": {"exec": plugin}},
        ],
    })
}

/// Responds to one request with an empty object, and returns its head in lower case.
async fn serve_one(listener: &TcpListener, status: &str) -> String {
    let (stream, _) = listener.accept().await.expect("a connection");
    respond(stream, status).await
}

async fn respond<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, status: &str) -> String {
    let mut head = Vec::new();
    while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let mut chunk = [0; 1024];
        let read = stream.read(&mut chunk).await.expect("a request");
        assert!(read > 0, "the request ends early");
        head.extend_from_slice(chunk.get(..read).unwrap_or_default());
    }
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: 2\r\n\r\n{{}}"
    );
    let sent = stream.write_all(response.as_bytes()).await;
    sent.expect("a response");
    stream.flush().await.expect("a response");
    String::from_utf8_lossy(&head).to_lowercase()
}

async fn get_version(client: &Client) -> Result<String, kube::Error> {
    let request = http::Request::get("/version").body(Vec::new());
    client.request_text(request.expect("a request")).await
}

#[tokio::test]
async fn current_context_sets_server_namespace_and_plugin() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let text = contexts(&format!("http://{address}")).to_string();
    let file = Kubeconfig::new("plugin", &text);
    let config = load_config(Some(&file.0)).await.expect("settings");
    assert_eq!(config.default_namespace, "shop");
    let client = connect(config, "tester/1").expect("a client");
    let (head, response) = tokio::join!(serve_one(&listener, "200 OK"), get_version(&client));
    assert_eq!(response.expect("a response"), "{}");
    assert!(head.starts_with("get /version"), "{head}");
    assert!(head.contains("authorization: bearer sesame"), "{head}");
    assert!(head.contains("user-agent: tester/1"), "{head}");
}

#[tokio::test]
async fn unusable_kubeconfig_of_the_user_is_an_error() {
    let invalid = Kubeconfig::new("invalid", "contexts: nonsense");
    for path in [Path::new("/nowhere/kubeconfig"), invalid.0.as_path()] {
        let error = load_config(Some(path)).await.expect_err("not usable");
        let name = path.display().to_string();
        assert!(error.to_string().contains(&name), "{error}");
    }
}

#[tokio::test]
async fn plugin_runs_again_after_its_token_is_rejected() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let runs = Kubeconfig::new("runs", "");
    let script = format!(
        "echo run >> '{0}'; printf 'status: {{token: t%d}}' $(wc -l < '{0}')",
        runs.0.display()
    );
    let mut text = contexts(&format!("http://{address}"));
    text["users"][1]["user"]["exec"]["args"] = json!(["-c", script]);
    let file = Kubeconfig::new("rejected", &text.to_string());
    let config = load_config(Some(&file.0)).await.expect("settings");
    let client = connect(config, "tester/1").expect("a client");
    for (status, token) in [
        ("200 OK", "bearer t1\r"),
        ("401 Unauthorized", "bearer t1\r"),
        ("200 OK", "bearer t2\r"),
    ] {
        let (head, response) = tokio::join!(serve_one(&listener, status), get_version(&client));
        assert_eq!(response.is_ok(), status == "200 OK");
        assert!(head.contains(token), "{head}");
    }
}

/// Returns the server's side of TLS, which requires a client certificate of `authority`.
fn acceptor(authority: &Authority) -> TlsAcceptor {
    let served = Subject {
        common_name: "server".to_owned(),
        usage: Usage::Server,
        names: vec!["127.0.0.1".to_owned()],
        ..Subject::default()
    };
    let served = authority.issue(&served).expect("a certificate");
    let certificate = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).expect("PEM");
    let mut roots = RootCertStore::empty();
    let root = certificate(&authority.certificate_pem());
    roots.add(root).expect("an authority");
    let provider = Arc::new(default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone());
    let key = PrivateKeyDer::from_pem_slice(served.key_pem.as_bytes()).expect("a key");
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_client_cert_verifier(verifier.build().expect("a verifier"))
        .with_single_cert(vec![certificate(&served.certificate_pem)], key)
        .expect("a certificate with its key");
    TlsAcceptor::from(Arc::new(config))
}

/// Returns a user with the certificate, and a user with a plugin that returns it.
fn users(identity: &KeyPairPem, credential: &Path) -> [Value; 2] {
    let by_data = json!({
        "client-certificate-data": STANDARD.encode(&identity.certificate_pem),
        "client-key-data": STANDARD.encode(&identity.key_pem),
    });
    let by_plugin = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
        "command": "cat", "args": [credential],
    }});
    [by_data, by_plugin]
}

/// Returns contexts of which the second uses TLS, with the authority of the server and a user.
fn tls_contexts(server: &str, authority: &Authority, user: &Value) -> String {
    let mut text = contexts(server);
    let data = STANDARD.encode(authority.certificate_pem());
    text["clusters"][1]["cluster"]["certificate-authority-data"] = json!(data);
    text["users"][1]["user"] = user.clone();
    text.to_string()
}

/// Responds to one request of a client with a certificate, and returns its head in lower case.
async fn serve_one_over_tls(listener: &TcpListener, acceptor: &TlsAcceptor) -> String {
    let (stream, _) = listener.accept().await.expect("a connection");
    let stream = acceptor.accept(stream).await.expect("a handshake");
    assert!(stream.get_ref().1.peer_certificates().is_some());
    respond(stream, "200 OK").await
}

fn user_of(authority: &Authority) -> KeyPairPem {
    let user = Subject {
        common_name: "ali".to_owned(),
        ..Subject::default()
    };
    authority.issue(&user).expect("a certificate")
}

#[tokio::test]
async fn server_and_client_authenticate_by_certificates() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let server = format!("https://{}", listener.local_addr().expect("an address"));
    let authority = Authority::new("cluster").expect("an authority");
    let acceptor = acceptor(&authority);
    let identity = user_of(&authority);
    let credential = json!({"status": {
        "clientCertificateData": identity.certificate_pem,
        "clientKeyData": identity.key_pem,
    }});
    let credential = Kubeconfig::new("credential", &credential.to_string());
    for (number, user) in users(&identity, &credential.0).iter().enumerate() {
        let text = tls_contexts(&server, &authority, user);
        let file = Kubeconfig::new(&format!("tls-{number}"), &text);
        let config = load_config(Some(&file.0)).await.expect("settings");
        let client = connect(config, "tester/1").expect("a client");
        let serve = serve_one_over_tls(&listener, &acceptor);
        let (head, response) = tokio::join!(serve, get_version(&client));
        assert_eq!(response.expect("a response"), "{}");
        assert!(!head.contains("authorization"), "{head}");
    }
}

#[tokio::test]
async fn server_is_trusted_by_ca_file_server_name_or_without_verification() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let authority = Authority::new("cluster").expect("an authority");
    let acceptor = acceptor(&authority);
    let file = Kubeconfig::new("ca.crt", &authority.certificate_pem());
    let [user, _] = users(&user_of(&authority), Path::new(""));
    let text = tls_contexts(&format!("https://{address}"), &authority, &user);
    let kubeconfig = Kubeconfig::new("trust", &text);
    let config = load_config(Some(&kubeconfig.0)).await.expect("settings");
    let mut by_file = config.clone();
    by_file.root_cert = None;
    by_file.root_cert_file = Some(file.0.clone());
    let mut by_name = config.clone();
    let localhost = format!("https://localhost:{}", address.port());
    by_name.cluster_url = localhost.parse().expect("an address");
    by_name.tls_server_name = Some("127.0.0.1".to_owned());
    let mut unverified = config;
    unverified.root_cert = None;
    unverified.accept_invalid_certs = true;
    for config in [by_file, by_name, unverified] {
        let client = connect(config, "tester/1").expect("a client");
        let serve = serve_one_over_tls(&listener, &acceptor);
        let (_, response) = tokio::join!(serve, get_version(&client));
        assert_eq!(response.expect("a response"), "{}");
    }
}

#[tokio::test]
async fn server_of_another_authority_gets_no_request() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let server = format!("https://{}", listener.local_addr().expect("an address"));
    let authority = Authority::new("cluster").expect("an authority");
    let acceptor = acceptor(&authority);
    let other = Authority::new("other").expect("an authority");
    let [user, _] = users(&user_of(&authority), Path::new(""));
    let file = Kubeconfig::new("other", &tls_contexts(&server, &other, &user));
    let config = load_config(Some(&file.0)).await.expect("settings");
    let client = connect(config, "tester/1").expect("a client");
    let serve = async {
        let (stream, _) = listener.accept().await.expect("a connection");
        acceptor.accept(stream).await.is_err()
    };
    let (handshake_failed, response) = tokio::join!(serve, get_version(&client));
    assert!(handshake_failed && response.is_err());
}

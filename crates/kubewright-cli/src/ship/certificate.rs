use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubewright_apiserver::pki::{Authority, Subject, Usage};
use kubewright_core::Clock;
use serde_json::{Value, json};

use crate::error::Error;
use crate::objects::Kinds;
use crate::program;

/// Nobody renews the certificate before the Secret is deleted.
const DAYS: u16 = 3650;

/// Whether the object makes the API server call webhooks.
pub(super) fn calls_webhooks(object: &Value) -> bool {
    let kind = object["kind"].as_str();
    kind.is_some_and(|kind| kind.ends_with("WebhookConfiguration"))
}

/// Adds the certificate of an operator's webhooks to its objects: a Secret that its Pod mounts,
/// and the authority in the configurations. The one that is in the cluster stays.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn with_certificate(
    client: &kube::Client,
    program: &std::path::Path,
    flags: &[&str],
    objects: Vec<Value>,
) -> Result<Vec<Value>, Error> {
    if !objects.iter().any(calls_webhooks) {
        return Ok(objects);
    }
    let secret = secret(client, &objects).await?;
    let authority = secret["data"]["ca.crt"].as_str().unwrap_or_default();
    let authority = STANDARD.decode(authority).unwrap_or_default();
    let failed = |source| Error::File {
        action: "write the webhooks' authority into",
        path: std::env::temp_dir(),
        source,
    };
    let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
    file.write_all(&authority).map_err(failed)?;
    let path = file.path().display().to_string();
    let flags = [flags, &["--webhook-ca", &path]].concat();
    let mut objects = program::manifests(program, &flags).await?;
    // Behind the namespace that it is in.
    let behind = objects
        .iter()
        .position(|object| object["kind"] == "Namespace");
    objects.insert(behind.map_or(0, |at| at + 1), secret);
    Ok(objects)
}

/// The Secret as it is in the cluster, or a new one.
async fn secret(client: &kube::Client, objects: &[Value]) -> Result<Value, Error> {
    let service = objects.iter().find(|object| object["kind"] == "Service");
    let metadata = service
        .map(|service| &service["metadata"])
        .unwrap_or(&Value::Null);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (name, namespace) = (text(&metadata["name"]), text(&metadata["namespace"]));
    let mut secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/tls",
        "metadata": {"name": name, "namespace": namespace, "labels": metadata["labels"]},
    });
    let place = Kinds::discover(client).await?.locate(&secret).await?;
    let live = place.find(client).await?;
    secret["data"] = match live.filter(|live| live["data"]["ca.crt"].is_string()) {
        Some(live) => live["data"].clone(),
        None => made(&format!("{name}.{namespace}.svc"))?,
    };
    Ok(secret)
}

/// A certificate for the Service, and the authority that signed it.
fn made(host: &str) -> Result<Value, Error> {
    let failed = |source| Error::Certificates { source };
    let authority = Authority::valid_from("kubewright-webhooks", Clock::system().now(), DAYS)
        .map_err(failed)?;
    let subject = Subject {
        common_name: "webhooks".to_owned(),
        organizations: Vec::new(),
        usage: Usage::Server,
        names: vec![host.to_owned()],
    };
    let serving = authority.issue(&subject).map_err(failed)?;
    Ok(json!({
        "ca.crt": STANDARD.encode(authority.certificate_pem()),
        "tls.crt": STANDARD.encode(&serving.certificate_pem),
        "tls.key": STANDARD.encode(&serving.key_pem),
    }))
}

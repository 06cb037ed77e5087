//! The certificate of an operator's webhooks, when this command issues it.

use std::fmt;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubewright_core::Clock;
use kubewright_http::pki::{Authority, Subject, Usage};
use serde_json::{Value, json};

use super::manifest_flags::CertificateIssuer;
use crate::error::Error;
use crate::objects::{Located, ServedKinds, calls_webhooks, text};
use crate::program;

/// The validity of the certificate, which is not renewed before the Secret is deleted.
const DAYS: u16 = 3650;

/// The annotation of cert-manager on its Secrets: `CertificateNameKey` in its
/// pkg/apis/certmanager/v1/types.go.
const BY_CERT_MANAGER: &str = "cert-manager.io/certificate-name";
/// The annotation of an operator on a Secret whose certificate it renews.
const BY_OPERATOR: &str = "webhook.kubewright.dev/rotation";

/// An operator's objects with the certificate of its webhooks.
#[derive(Debug)]
pub(super) struct WithCertificate {
    pub(super) objects: Vec<Value>,
    /// The Secret that must be deleted before the objects are applied.
    pub(super) replaced: Option<Replaced>,
}

/// A Secret that an issuer has renewed, which this deployment no longer uses.
#[derive(Debug)]
pub(super) struct Replaced {
    pub(super) secret: Located,
    issuer: CertificateIssuer,
}

impl Replaced {
    /// Whether the object lets the issuer write to the Secret: such objects have the Secret's name.
    pub(super) fn belongs_to_issuer(&self, object: &Located) -> bool {
        object.name == self.secret.name && object.namespace == self.secret.namespace
    }
}

impl fmt::Display for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (issuer, flag) = match self.issuer {
            CertificateIssuer::CertManager => ("cert-manager", "cert-manager"),
            CertificateIssuer::Managed => ("the operator", "managed"),
        };
        write!(
            f,
            "{}: {issuer} renewed its certificate and would no longer do so; with --certificates \
{flag} it stays",
            self.secret
        )
    }
}

/// Adds the certificate of an operator's webhooks to its objects: a Secret that its Pod mounts, and
/// the authority in the configurations. A Secret in the cluster is used again, unless an issuer has
/// renewed it, which this deployment no longer uses.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn with_certificate(
    client: &kube::Client,
    program: &std::path::Path,
    flags: &[&str],
    objects: Vec<Value>,
) -> Result<WithCertificate, Error> {
    if !objects.iter().any(calls_webhooks) {
        return Ok(WithCertificate {
            objects,
            replaced: None,
        });
    }
    let (secret, replaced) = secret(client, &objects).await?;
    let authority = STANDARD
        .decode(text(&secret["data"]["ca.crt"]))
        .unwrap_or_default();
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
    // The Secret is applied after its namespace.
    let namespace = objects
        .iter()
        .position(|object| object["kind"] == "Namespace");
    objects.insert(namespace.map_or(0, |index| index + 1), secret);
    Ok(WithCertificate { objects, replaced })
}

/// Returns the Secret of the cluster or a new one, and the Secret that the new one replaces.
async fn secret(
    client: &kube::Client,
    objects: &[Value],
) -> Result<(Value, Option<Replaced>), Error> {
    let service = objects.iter().find(|object| object["kind"] == "Service");
    let metadata = service
        .map(|service| &service["metadata"])
        .unwrap_or(&Value::Null);
    let (name, namespace) = (text(&metadata["name"]), text(&metadata["namespace"]));
    let mut secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/tls",
        "metadata": {"name": name, "namespace": namespace, "labels": metadata["labels"]},
    });
    let located = ServedKinds::discover(client).await?.locate(&secret).await?;
    let live = located.find(client).await?;
    let issuer = live.as_ref().and_then(issuer_of);
    let reused = live.filter(|live| issuer.is_none() && live["data"]["ca.crt"].is_string());
    secret["data"] = match reused {
        Some(live) => live["data"].clone(),
        None => new_certificate(&format!("{name}.{namespace}.svc"))?,
    };
    let replaced = issuer.map(|issuer| Replaced {
        secret: located,
        issuer,
    });
    Ok((secret, replaced))
}

/// Returns the issuer that renews the certificate in a Secret; none for a certificate of this
/// command.
fn issuer_of(secret: &Value) -> Option<CertificateIssuer> {
    let annotations = &secret["metadata"]["annotations"];
    let issuers = [
        (BY_CERT_MANAGER, CertificateIssuer::CertManager),
        (BY_OPERATOR, CertificateIssuer::Managed),
    ];
    issuers
        .into_iter()
        .find(|(annotation, _)| annotations.get(*annotation).is_some())
        .map(|(_, issuer)| issuer)
}

/// Issues a certificate for the Service, and returns the data of its Secret.
fn new_certificate(host: &str) -> Result<Value, Error> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{CertificateIssuer, issuer_of};

    #[test]
    fn issuer_of_a_secret_is_found_by_its_annotation() {
        let issuer =
            |annotation: &str| issuer_of(&json!({"metadata": {"annotations": {annotation: "x"}}}));
        assert_eq!(
            issuer("cert-manager.io/certificate-name"),
            Some(CertificateIssuer::CertManager)
        );
        assert_eq!(
            issuer("webhook.kubewright.dev/rotation"),
            Some(CertificateIssuer::Managed)
        );
        assert_eq!(issuer("team"), None);
        assert_eq!(issuer_of(&json!({"metadata": {"name": "web"}})), None);
    }
}

use std::fmt;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubewright_core::Clock;
use kubewright_http::pki::{Authority, Subject, Usage};
use serde_json::{Value, json};

use super::manifest_flags::Maker;
use crate::error::Error;
use crate::objects::{Kinds, Located, calls_webhooks};
use crate::program;

/// Nobody renews the certificate before the Secret is deleted.
const DAYS: u16 = 3650;

/// What cert-manager writes to a Secret that it keeps: `CertificateNameKey` in its
/// pkg/apis/certmanager/v1/types.go.
const BY_CERT_MANAGER: &str = "cert-manager.io/certificate-name";
/// What an operator writes to a Secret that it keeps itself.
const BY_OPERATOR: &str = "webhook.kubewright.dev/rotation";

/// An operator's objects with the certificate of its webhooks.
#[derive(Debug)]
pub(super) struct Certified {
    pub(super) objects: Vec<Value>,
    /// The Secret that has to go first.
    pub(super) replaced: Option<Replaced>,
}

/// A Secret of somebody who kept it and, deployed like this, would do so no longer.
#[derive(Debug)]
pub(super) struct Replaced {
    pub(super) secret: Located,
    keeper: Maker,
}

impl Replaced {
    /// Whether the object is what lets its keeper write to it: such have the Secret's name.
    pub(super) fn is_means(&self, object: &Located) -> bool {
        object.name == self.secret.name && object.namespace == self.secret.namespace
    }
}

impl fmt::Display for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (who, flag) = match self.keeper {
            Maker::CertManager => ("cert-manager", "cert-manager"),
            Maker::Managed => ("the operator", "managed"),
        };
        write!(
            f,
            "{}: {who} renewed its certificate and would do so no longer; with --certificates \
             {flag} it stays",
            self.secret
        )
    }
}

/// Adds the certificate of an operator's webhooks to its objects: a Secret that its Pod mounts,
/// and the authority in the configurations. The one that is in the cluster stays, unless it is
/// renewed by somebody else, who would not do so any more.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn with_certificate(
    client: &kube::Client,
    program: &std::path::Path,
    flags: &[&str],
    objects: Vec<Value>,
) -> Result<Certified, Error> {
    if !objects.iter().any(calls_webhooks) {
        return Ok(Certified {
            objects,
            replaced: None,
        });
    }
    let (secret, replaced) = secret(client, &objects).await?;
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
    Ok(Certified { objects, replaced })
}

/// The Secret as it is in the cluster, or a new one, and what that takes the place of.
async fn secret(
    client: &kube::Client,
    objects: &[Value],
) -> Result<(Value, Option<Replaced>), Error> {
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
    let keeper = live.as_ref().and_then(keeper_of);
    let kept = live.filter(|live| keeper.is_none() && live["data"]["ca.crt"].is_string());
    secret["data"] = match kept {
        Some(live) => live["data"].clone(),
        None => made(&format!("{name}.{namespace}.svc"))?,
    };
    let replaced = keeper.map(|keeper| Replaced {
        secret: place,
        keeper,
    });
    Ok((secret, replaced))
}

/// Who renews the certificate in a Secret; nobody does when this command made it.
fn keeper_of(secret: &Value) -> Option<Maker> {
    let annotations = &secret["metadata"]["annotations"];
    let keepers = [
        (BY_CERT_MANAGER, Maker::CertManager),
        (BY_OPERATOR, Maker::Managed),
    ];
    let mut keepers = keepers.into_iter();
    keepers
        .find(|(annotation, _)| annotations.get(*annotation).is_some())
        .map(|(_, keeper)| keeper)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Maker, keeper_of};

    #[test]
    fn a_certificate_that_somebody_renews_is_told_from_one_of_ours() {
        let secret = |annotation: &str| json!({"metadata": {"annotations": {annotation: "x"}}});
        let kept = |annotation| keeper_of(&secret(annotation));
        assert_eq!(
            kept("cert-manager.io/certificate-name"),
            Some(Maker::CertManager)
        );
        assert_eq!(
            kept("webhook.kubewright.dev/rotation"),
            Some(Maker::Managed)
        );
        assert_eq!(kept("team"), None);
        assert_eq!(keeper_of(&json!({"metadata": {"name": "web"}})), None);
    }
}

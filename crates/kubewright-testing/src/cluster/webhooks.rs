use std::net::SocketAddr;
use std::sync::Arc;

use kubewright::{
    CertificateSource, Certificates, Incoming, LocalAuthority, Repetition, WebhookServing,
};
use kubewright_core::{Clock, Description, WebhookKind};
use kubewright_manifest::{ManifestOptions, webhook_service};
use kubewright_webhook::pipe;
use serde_json::json;
use tokio::net::TcpListener;

use super::backend::Backend;
use super::embedded::Embedded;
use super::handle::Cluster;
use crate::real::AuthorizerAddress;
use crate::{Choice, Error};

/// How the cluster reaches the webhooks of an operator under test, from one run to the next.
#[derive(Clone, Debug)]
pub(super) struct WebhookWiring {
    place: Place,
    certificates: Certificates,
    authority_pem: String,
}

#[derive(Clone, Debug)]
enum Place {
    /// The embedded server calls a Service, in this process.
    Service(String),
    /// The real one calls a socket of this machine.
    Address(SocketAddr),
}

impl WebhookWiring {
    /// Chooses a place and makes a certificate for it; none when there are no webhooks.
    pub(super) async fn new(
        choice: Choice,
        description: &Description,
    ) -> Result<Option<Self>, Error> {
        if !description.serves() {
            return Ok(None);
        }
        let name = &description.name;
        let (place, now) = match choice {
            Choice::Embedded => {
                let host = format!("{}.{name}-system.svc", webhook_service(name));
                (Place::Service(host), Embedded::beginning())
            }
            Choice::Existing => {
                return Err(Error::Unsupported {
                    asked: format!("serve the webhooks of {name}"),
                    why: "an existing cluster reaches no address of this process",
                });
            }
            // Free now, and bound again by each run.
            Choice::Real => {
                let listener = bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
                let address = listener.local_addr().map_err(Error::Listen)?;
                (Place::Address(address), Clock::system().now())
            }
        };
        let failed = |source: kubewright_webhook::Error| Error::Operator {
            name: name.clone(),
            source: Box::new(source.into()),
        };
        let host = match &place {
            Place::Service(host) => host.clone(),
            Place::Address(address) => address.ip().to_string(),
        };
        let title = format!("{name} webhooks");
        let authority = LocalAuthority::valid_from(&title, now).map_err(failed)?;
        let pair = authority.issue(&[&host]).map_err(failed)?;
        Ok(Some(Self {
            place,
            certificates: Certificates::new(&pair).map_err(failed)?,
            authority_pem: authority.certificate_pem(),
        }))
    }

    /// What makes the manifests point here.
    pub(super) fn options(&self) -> ManifestOptions {
        ManifestOptions {
            webhook_url: match &self.place {
                Place::Service(_) => None,
                Place::Address(address) => Some(format!("https://{address}")),
            },
            webhook_ca: Some(self.authority_pem.clone()),
            ..ManifestOptions::default()
        }
    }

    /// Where the operator's authorizer is.
    pub(super) fn authorizer(&self) -> AuthorizerAddress {
        let url = match &self.place {
            Place::Service(host) => format!("https://{host}/authorize"),
            Place::Address(address) => format!("https://{address}/authorize"),
        };
        AuthorizerAddress {
            url,
            ca_pem: self.authority_pem.clone(),
        }
    }

    /// What one run serves.
    pub(super) async fn serving(&self, backend: &Backend) -> Result<WebhookServing, Error> {
        let incoming = match (&self.place, backend) {
            (Place::Service(host), Backend::Embedded(embedded)) => {
                let (connector, listener) = pipe();
                let connect = move || {
                    let connector = connector.clone();
                    let connected = async move { connector.connect().await };
                    Box::pin(connected) as futures_util::future::BoxFuture<'static, _>
                };
                embedded.webhooks().register(host, Arc::new(connect));
                Incoming::Pipe(listener)
            }
            (Place::Address(address), _) => Incoming::Socket(bind(*address).await?),
            (Place::Service(host), _) => {
                return Err(Error::Unsupported {
                    asked: format!("serve webhooks as {host}"),
                    why: "a real cluster reaches no Service of this process",
                });
            }
        };
        Ok(WebhookServing {
            incoming,
            certificates: self.certificates.clone(),
            source: CertificateSource::Given,
            repetition: Repetition::Checked,
        })
    }
}

async fn bind(address: SocketAddr) -> Result<TcpListener, Error> {
    TcpListener::bind(address).await.map_err(Error::Listen)
}

impl Cluster {
    /// Waits until the server acts on webhook configurations: a real one learns of them by
    /// watching, in order, so that one which came later and acts shows that those before do.
    pub(super) async fn webhooks_act(&self, description: &Description) -> Result<(), Error> {
        if matches!(self.shared.backend, Backend::Embedded(_)) {
            return Ok(());
        }
        for (kind, plural) in [
            (WebhookKind::Mutating, "mutatingwebhookconfigurations"),
            (WebhookKind::Validating, "validatingwebhookconfigurations"),
        ] {
            if description.webhooks.iter().any(|one| one.kind == kind) {
                self.configurations_act(plural).await?;
            }
        }
        Ok(())
    }

    async fn configurations_act(&self, plural: &str) -> Result<(), Error> {
        let path = format!("/apis/admissionregistration.k8s.io/v1/{plural}");
        let tried = format!("wait until {plural} act");
        let failed = |source| Error::Request {
            tried: tried.clone(),
            source: Box::new(source),
        };
        let label = json!({"kubewright.dev/probe": self.namespace});
        let name = format!("probe-{}", self.namespace);
        let probe = json!({
            "metadata": {"name": name},
            "webhooks": [{
                "name": "probe.kubewright.dev",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "timeoutSeconds": 1,
                // Nobody listens there, so that it refuses whatever it is asked about.
                "clientConfig": {"url": "https://127.0.0.1:1/"},
                "objectSelector": {"matchLabels": label},
                "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
                    "resources": ["configmaps"]}],
            }],
        });
        self.send("POST", &path, &probe).await.map_err(failed)?;
        let probed = json!({"metadata": {"name": "probe", "labels": label}});
        let create = format!(
            "/api/v1/namespaces/{}/configmaps?dryRun=All",
            self.namespace
        );
        self.until(&tried, async || {
            let refused = self.send("POST", &create, &probed).await.is_err();
            Ok((!refused).then(|| "nobody was asked".to_owned()))
        })
        .await?;
        let deleted = self
            .send("DELETE", &format!("{path}/{name}"), &json!({}))
            .await;
        deleted.map(drop).map_err(failed)
    }
}

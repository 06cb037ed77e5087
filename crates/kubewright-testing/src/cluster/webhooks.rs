use std::net::SocketAddr;
use std::sync::Arc;

use jiff::Timestamp;
use kubewright::webhook::{
    CertificateSource, Certificates, IdempotenceCheck, Incoming, ManagedCertificates,
    WebhookServing,
};
use kubewright_apiserver::{WebhookEndpoint, WebhookEndpoints};
use kubewright_core::{Description, WebhookKind};
use kubewright_manifest::{ManifestOptions, WebhookCertificates, webhook_service};
use kubewright_webhook::pipe;
use kubewright_webhook::pki::Authority;
use serde_json::json;

use super::backend::Backend;
use super::balancer::Balancer;
use super::handle::Cluster;
use super::reach::{Place, Reach, bind};
use crate::Error;
use crate::real::AuthorizerAddress;

/// How the cluster reaches the webhooks of an operator under test, from one run to the next.
#[derive(Clone, Debug)]
pub(super) struct WebhookWiring {
    place: Place,
    trust: Trust,
    /// What several replicas share, where a Service is not there for that.
    balancer: Option<Arc<Balancer>>,
}

/// One of several runs at the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replica {
    /// Whoever served there before does not any more.
    First,
    /// Beside the others.
    Further,
}

/// Where one run is among those that are asked.
#[derive(Debug, Default)]
pub(super) enum Listed {
    #[default]
    Alone,
    Service(WebhookEndpoints, WebhookEndpoint),
    Balancer(Arc<Balancer>, SocketAddr),
}

impl Listed {
    /// Takes it off, as a Pod that goes is taken off its Service: new connections go to others.
    pub(super) fn leave(self) {
        match self {
            Self::Alone => {}
            Self::Service(endpoints, endpoint) => endpoints.unregister(&endpoint),
            Self::Balancer(balancer, address) => balancer.forget(address),
        }
    }

    /// Ends what it is asked, as the end of its process does.
    pub(super) fn cut(&self) {
        if let Self::Balancer(balancer, address) = self {
            balancer.cut(*address);
        }
    }
}

/// Who makes the certificate of webhooks under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CertificateMaker {
    /// The kit, before the operator runs.
    Kit,
    /// The operator, as where it is deployed.
    Operator,
}

#[derive(Clone, Debug)]
enum Trust {
    Given {
        certificates: Certificates,
        authority_pem: String,
    },
    Managed(ManagedCertificates),
}

impl WebhookWiring {
    /// Chooses a place and a certificate for it.
    pub(super) async fn new(
        reach: Reach,
        description: &Description,
        maker: CertificateMaker,
    ) -> Result<Self, Error> {
        let name = &description.name;
        let now = reach.now();
        let service = format!("{}.{}.svc", webhook_service(name), system_namespace(name));
        let place = reach.place(service).await?;
        let trust = match maker {
            CertificateMaker::Kit => Trust::given(name, &place.host(), now),
            CertificateMaker::Operator => Ok(Trust::managed(name, &place)),
        };
        let trust = trust.map_err(|source| Error::Operator {
            name: name.clone(),
            source: Box::new(source.into()),
        })?;
        Ok(Self {
            place,
            trust,
            balancer: None,
        })
    }

    /// The same place for several runs at once.
    pub(super) async fn shared(mut self) -> Result<Self, Error> {
        if let Place::Address { listen, .. } = &self.place {
            let balancer = Balancer::start(bind(*listen).await?);
            self.balancer = Some(Arc::new(balancer));
        }
        Ok(self)
    }

    /// What makes the manifests point here.
    pub(super) fn options(&self) -> ManifestOptions {
        ManifestOptions {
            webhook_url: match &self.place {
                Place::Service(_) => None,
                Place::Address { .. } => Some(self.place.url()),
            },
            webhook_ca: self.authority_pem().map(str::to_owned),
            certificates: match &self.trust {
                Trust::Given { .. } => WebhookCertificates::default(),
                Trust::Managed(_) => WebhookCertificates::Managed,
            },
            ..ManifestOptions::default()
        }
    }

    fn authority_pem(&self) -> Option<&str> {
        match &self.trust {
            Trust::Given { authority_pem, .. } => Some(authority_pem),
            Trust::Managed(_) => None,
        }
    }

    /// The namespace and the name of the Secret that the operator keeps, if it does.
    pub(super) fn secret(&self, description: &Description) -> Option<(String, String)> {
        match &self.trust {
            Trust::Given { .. } => None,
            Trust::Managed(managed) => {
                let name = webhook_service(&description.name);
                Some((managed.namespace.clone(), name))
            }
        }
    }

    /// Where the operator's authorizer is.
    pub(super) fn authorizer(&self) -> AuthorizerAddress {
        AuthorizerAddress {
            url: format!("{}/authorize", self.place.url()),
            ca_pem: self.authority_pem().unwrap_or_default().to_owned(),
        }
    }

    /// What one run serves.
    pub(super) async fn serving(
        &self,
        backend: &Backend,
        replica: Replica,
    ) -> Result<(WebhookServing, Listed), Error> {
        let (incoming, listed) = match (&self.place, backend) {
            (Place::Service(host), Backend::Embedded(embedded)) => {
                let (connector, listener) = pipe();
                let connect = move || {
                    let connector = connector.clone();
                    let connected = async move { connector.connect().await };
                    Box::pin(connected) as futures_util::future::BoxFuture<'static, _>
                };
                let (webhooks, connect) = (embedded.webhooks(), Arc::new(connect));
                let endpoint = match replica {
                    Replica::First => webhooks.register(host, connect),
                    Replica::Further => webhooks.add(host, connect),
                };
                let listed = Listed::Service(webhooks.clone(), endpoint);
                (Incoming::Pipe(listener), listed)
            }
            (Place::Address { listen, .. }, _) => match &self.balancer {
                Some(balancer) => {
                    let (listener, address) = balancer.replica().await?;
                    let listed = Listed::Balancer(Arc::clone(balancer), address);
                    (Incoming::Socket(listener), listed)
                }
                None => (Incoming::Socket(bind(*listen).await?), Listed::Alone),
            },
            (Place::Service(host), _) => {
                return Err(Error::Unsupported {
                    asked: format!("serve webhooks as {host}"),
                    why: "a real cluster reaches no Service of this process",
                });
            }
        };
        let (certificates, source) = match &self.trust {
            Trust::Given { certificates, .. } => (certificates.clone(), CertificateSource::Static),
            Trust::Managed(managed) => {
                let source = CertificateSource::Managed(managed.clone());
                (Certificates::none(), source)
            }
        };
        let serving = WebhookServing {
            incoming,
            certificates,
            source,
            idempotence: IdempotenceCheck::On,
        };
        Ok((serving, listed))
    }
}

impl Trust {
    /// A certificate of an authority of its own.
    fn given(name: &str, host: &str, now: Timestamp) -> Result<Self, kubewright_webhook::Error> {
        let title = format!("{name} webhooks");
        let authority = Authority::valid_from(&title, now, 365)?;
        let pair = authority.issue_server(&[host])?;
        Ok(Self::Given {
            certificates: Certificates::new(&pair)?,
            authority_pem: authority.certificate_pem(),
        })
    }

    fn managed(name: &str, place: &Place) -> Self {
        let mut managed = ManagedCertificates::of_service(name, &system_namespace(name));
        if let Place::Address { .. } = place {
            managed.names = vec![place.host()];
        }
        Self::Managed(managed)
    }
}

/// Where manifests put an operator unless they are told otherwise.
fn system_namespace(name: &str) -> String {
    format!("{name}-system")
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
        self.shared.backend.remember(&format!("{path}/{name}"));
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

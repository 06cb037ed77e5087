//! Serves the webhooks of an operator under test where the cluster calls them.

use std::net::SocketAddr;
use std::sync::Arc;

use jiff::Timestamp;
use kubewright::webhook::{
    CertificateSource, Certificates, IdempotenceCheck, Incoming, ManagedCertificates,
    WebhookServing,
};
use kubewright_apiserver::{WebhookEndpoint, WebhookEndpoints};
use kubewright_core::Description;
use kubewright_manifest::{ManifestOptions, WebhookCertificates, webhook_service};
use kubewright_webhook::pipe;
use kubewright_webhook::pki::Authority;

use super::backend::Backend;
use super::balancer::Balancer;
use super::webhook_address::{ApiServerLocation, WebhookAddress, bind};
use crate::Error;
use crate::real::AuthorizerAddress;

/// The address and certificate of an operator's webhooks, which stay from one run to the next.
#[derive(Clone, Debug)]
pub(super) struct WebhookWiring {
    address: WebhookAddress,
    certificate: ServingCertificate,
    /// Distributes connections over replicas that listen on sockets.
    balancer: Option<Arc<Balancer>>,
}

/// A run of the operator that serves its webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replica {
    /// Replaces all earlier runs.
    First,
    /// Serves beside the earlier runs.
    Additional,
}

/// How the cluster finds the webhooks of one run.
#[derive(Debug, Default)]
pub(super) enum Registration {
    /// At a fixed address.
    #[default]
    Fixed,
    Service(WebhookEndpoints, WebhookEndpoint),
    Balancer(Arc<Balancer>, SocketAddr),
}

impl Registration {
    /// Removes the run, as a terminating Pod is removed from its Service: new connections go to
    /// other replicas.
    pub(super) fn unregister(self) {
        match self {
            Self::Fixed => {}
            Self::Service(endpoints, endpoint) => endpoints.unregister(&endpoint),
            Self::Balancer(balancer, address) => balancer.remove(address),
        }
    }

    /// Closes the connections to the run, as the end of its process does.
    pub(super) fn disconnect(&self) {
        if let Self::Balancer(balancer, address) = self {
            balancer.disconnect(*address);
        }
    }
}

/// The issuer of the certificate of webhooks under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CertificateIssuer {
    /// This crate, before the operator runs.
    Harness,
    /// The operator, as when it is deployed.
    Operator,
}

#[derive(Clone, Debug)]
enum ServingCertificate {
    Given {
        certificates: Certificates,
        authority_pem: String,
    },
    Managed(ManagedCertificates),
}

impl WebhookWiring {
    /// Chooses an address and a certificate for it.
    pub(super) async fn new(
        location: ApiServerLocation,
        description: &Description,
        issuer: CertificateIssuer,
    ) -> Result<Self, Error> {
        let name = &description.name;
        let now = location.now();
        let service = format!("{}.{}.svc", webhook_service(name), system_namespace(name));
        let address = location.webhook_address(service).await?;
        let certificate = match issuer {
            CertificateIssuer::Harness => ServingCertificate::given(name, &address.host(), now),
            CertificateIssuer::Operator => Ok(ServingCertificate::managed(name, &address)),
        };
        let certificate = certificate.map_err(|source| Error::Operator {
            name: name.clone(),
            source: Box::new(source.into()),
        })?;
        Ok(Self {
            address,
            certificate,
            balancer: None,
        })
    }

    /// Lets several runs share the address.
    pub(super) async fn shared(mut self) -> Result<Self, Error> {
        if let WebhookAddress::Socket { listen, .. } = &self.address {
            let balancer = Balancer::start(bind(*listen).await?);
            self.balancer = Some(Arc::new(balancer));
        }
        Ok(self)
    }

    /// The options with which manifests contain this address.
    pub(super) fn options(&self) -> ManifestOptions {
        ManifestOptions {
            webhook_url: match &self.address {
                WebhookAddress::Service(_) => None,
                WebhookAddress::Socket { .. } => Some(self.address.url()),
            },
            webhook_ca: self.authority_pem().map(str::to_owned),
            certificates: match &self.certificate {
                ServingCertificate::Given { .. } => WebhookCertificates::default(),
                ServingCertificate::Managed(_) => WebhookCertificates::Managed,
            },
            ..ManifestOptions::default()
        }
    }

    fn authority_pem(&self) -> Option<&str> {
        match &self.certificate {
            ServingCertificate::Given { authority_pem, .. } => Some(authority_pem),
            ServingCertificate::Managed(_) => None,
        }
    }

    /// The namespace and the name of the Secret with the certificate, if the operator manages it.
    pub(super) fn secret(&self, description: &Description) -> Option<(String, String)> {
        match &self.certificate {
            ServingCertificate::Given { .. } => None,
            ServingCertificate::Managed(managed) => {
                let name = webhook_service(&description.name);
                Some((managed.namespace.clone(), name))
            }
        }
    }

    /// The address of the operator's authorizer.
    pub(super) fn authorizer(&self) -> AuthorizerAddress {
        AuthorizerAddress {
            url: format!("{}/authorize", self.address.url()),
            ca_pem: self.authority_pem().unwrap_or_default().to_owned(),
        }
    }

    /// What one run serves, and how the cluster finds it.
    pub(super) async fn serve(
        &self,
        backend: &Backend,
        replica: Replica,
    ) -> Result<(WebhookServing, Registration), Error> {
        let (incoming, registration) = self.listen(backend, replica).await?;
        let (certificates, source) = match &self.certificate {
            ServingCertificate::Given { certificates, .. } => {
                (certificates.clone(), CertificateSource::Static)
            }
            ServingCertificate::Managed(managed) => {
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
        Ok((serving, registration))
    }

    async fn listen(
        &self,
        backend: &Backend,
        replica: Replica,
    ) -> Result<(Incoming, Registration), Error> {
        match (&self.address, backend) {
            (WebhookAddress::Service(host), Backend::Embedded(embedded)) => {
                let (connector, listener) = pipe();
                let connect = move || {
                    let connector = connector.clone();
                    let connected = async move { connector.connect().await };
                    Box::pin(connected) as futures_util::future::BoxFuture<'static, _>
                };
                let (webhooks, connect) = (embedded.webhooks(), Arc::new(connect));
                let endpoint = match replica {
                    Replica::First => webhooks.register(host, connect),
                    Replica::Additional => webhooks.add(host, connect),
                };
                let registration = Registration::Service(webhooks.clone(), endpoint);
                Ok((Incoming::Pipe(listener), registration))
            }
            (WebhookAddress::Socket { listen, .. }, _) => match &self.balancer {
                Some(balancer) => {
                    let (listener, address) = balancer.add_replica().await?;
                    let registration = Registration::Balancer(Arc::clone(balancer), address);
                    Ok((Incoming::Socket(listener), registration))
                }
                None => Ok((Incoming::Socket(bind(*listen).await?), Registration::Fixed)),
            },
            (WebhookAddress::Service(host), _) => Err(Error::Unsupported {
                operation: format!("serve webhooks as {host}"),
                reason: "a real cluster cannot reach a Service of this process",
            }),
        }
    }
}

impl ServingCertificate {
    /// A certificate of a new authority.
    fn given(name: &str, host: &str, now: Timestamp) -> Result<Self, kubewright_webhook::Error> {
        let title = format!("{name} webhooks");
        let authority = Authority::valid_from(&title, now, 365)?;
        let pair = authority.issue_server(&[host])?;
        Ok(Self::Given {
            certificates: Certificates::new(&pair)?,
            authority_pem: authority.certificate_pem(),
        })
    }

    fn managed(name: &str, address: &WebhookAddress) -> Self {
        let mut managed = ManagedCertificates::of_service(name, &system_namespace(name));
        if let WebhookAddress::Socket { .. } = address {
            managed.names = vec![address.host()];
        }
        Self::Managed(managed)
    }
}

/// The default namespace of an operator in its manifests.
fn system_namespace(name: &str) -> String {
    format!("{name}-system")
}

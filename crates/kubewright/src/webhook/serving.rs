//! How an operator's webhooks are served: listener and certificates.

use kubewright_webhook::{CertificateFiles, Certificates, Incoming};

use super::certificate::ManagedCertificates;
use super::environment::IdempotenceCheck;

/// How an operator's webhooks are served.
#[derive(Debug)]
pub struct WebhookServing {
    /// The connections of the API server.
    pub incoming: Incoming,
    /// The certificate that is served.
    pub certificates: Certificates,
    /// The source of later certificates.
    pub source: CertificateSource,
    /// Whether mutating webhooks are checked to be idempotent; for tests.
    pub idempotence: IdempotenceCheck,
}

impl WebhookServing {
    /// Returns the certificate that the operator manages, if it does.
    pub(crate) fn managed(&self) -> Option<&ManagedCertificates> {
        match &self.source {
            CertificateSource::Managed(managed) => Some(managed),
            CertificateSource::Static | CertificateSource::Files(_) => None,
        }
    }
}

/// The source of the certificate while webhooks are served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CertificateSource {
    /// The certificate does not change.
    #[default]
    Static,
    /// The certificate is reloaded when these files change.
    Files(CertificateFiles),
    /// The operator creates and renews the certificate.
    Managed(ManagedCertificates),
}

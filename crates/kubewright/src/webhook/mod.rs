//! Webhooks as functions over the user's types: those that are asked before an object is stored, those
//! that convert it, and the authorizer; and the certificates that they are served with.

mod admission;
mod any;
mod asked_about;
mod authorizer;
mod certificate;
mod change;
mod conditions;
mod conversion;
mod denied;
mod dynamic;
mod findings;
mod handler;
mod metrics;
mod read;
mod registered;
mod serving;

pub use admission::Admission;
pub use any::AnyWebhook;
pub(crate) use authorizer::Authorizer;
pub use authorizer::Verdict;
pub(crate) use certificate::CertificateKeeper;
pub use certificate::ManagedCertificates;
pub use change::Change;
pub(crate) use conditions::{conditions, fault_of_conditions};
pub(crate) use conversion::Conversions;
pub use conversion::{Conversion, Converted};
pub use denied::Denied;
pub use findings::Findings;
pub(crate) use metrics::write_webhooks;
pub use registered::Webhook;
pub(crate) use registered::{Place, Width, usual_exemption};
pub use serving::{CertificateSource, IdempotenceCheck, WebhookServing};
pub(crate) use serving::{Questions, Reads, WebhookParts};

pub use kubewright_core::{FailurePolicy, Operation, Reinvocation, SideEffects};
pub use kubewright_webhook::review::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReviewSpec,
};
pub use kubewright_webhook::{CertificateFiles, Certificates, Incoming, pki};

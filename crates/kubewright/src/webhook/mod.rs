//! Webhooks as functions over the user's types: admission, conversion and authorization, and the
//! certificates that they are served with.

mod admission;
mod any_webhook;
mod authorizer;
mod builder;
mod cached_kind;
mod certificate;
mod change;
mod conversion;
mod conversions;
mod denied;
mod description;
mod dynamic;
mod environment;
mod fallback;
mod findings;
mod match_conditions;
mod match_rules;
mod metrics;
mod mutating_handler;
mod reach;
mod request_object;
mod server;
mod serving;
mod validating_handler;

pub use admission::Admission;
pub use any_webhook::AnyWebhook;
pub(crate) use authorizer::Authorizer;
pub use authorizer::Verdict;
pub use builder::Webhook;
pub(crate) use certificate::CertificateRotator;
pub use certificate::ManagedCertificates;
pub use change::Change;
pub use conversion::{Conversion, Converted};
pub(crate) use conversions::Conversions;
pub use denied::Denied;
pub use environment::IdempotenceCheck;
pub(crate) use fallback::FallbackScope;
pub use findings::Findings;
pub(crate) use match_conditions::{check_conditions, match_conditions};
pub(crate) use metrics::write_webhooks;
pub(crate) use reach::{Reach, default_exemption};
pub(crate) use server::{OperatorWebhooks, WebhookRegistrations};
pub use serving::{CertificateSource, WebhookServing};

pub use kubewright_core::{FailurePolicy, Operation, Reinvocation, SideEffects};
pub use kubewright_webhook::review::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReviewSpec,
};
pub use kubewright_webhook::{CertificateFiles, Certificates, Incoming, pki};

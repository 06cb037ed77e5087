//! What webhooks and policies share: which requests they see, in which version, and how a request
//! is described to them (`k8s.io/apiserver/pkg/admission/plugin/webhook/{predicates,matchconditions}`
//! and `plugin/policy/matching`).

mod conditions;
mod criteria;
mod request;
mod rule;
mod selector;
mod versions;

pub(crate) use conditions::{Conditions, condition_texts};
pub(crate) use criteria::{Criteria, Invocation};
pub(crate) use request::{condition_request, request};
pub(crate) use versions::{ConversionFailure, VersionedObjects, converted, in_version, objects};

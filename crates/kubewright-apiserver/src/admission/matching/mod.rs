//! What webhooks and policies share: what they are told of a request, which requests they are
//! about, and the conditions that such a request must meet
//! (`k8s.io/apiserver/pkg/admission/plugin/webhook/{predicates,matchconditions}` and
//! `plugin/policy/matching`).

mod conditions;
mod criteria;
mod request;
mod rule;
mod selector;
mod versions;

pub(crate) use conditions::{Conditions, all_hold};
pub(crate) use criteria::{Criteria, Invocation};
pub(crate) use request::{condition_request, request};
pub(crate) use versions::{NotConverted, converted, in_version, objects};

//! Validation of definitions
//! (k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation).

mod approval;
mod conversion;
mod costs;
mod defaults;
mod definition;
mod expressions;
mod fields;
mod list_rules;
mod names;
mod schema;
mod structure;
mod subresources;
mod versions;

pub(super) use definition::{check, check_update};
pub(super) use expressions::unsupported;

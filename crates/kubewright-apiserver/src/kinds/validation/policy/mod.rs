//! The kinds of admission by policies (`pkg/apis/admissionregistration/validation`).

mod binding;
mod matching;
mod mutating;
mod shared;
mod status;
mod validating;

use super::labels::{SelectorValues, label_selector};
use super::{At, Findings, formats};

pub(super) use binding::{mutating_binding, validating_binding};
pub(super) use mutating::mutating_policy;
pub(super) use status::policy_status;
pub(super) use validating::validating_policy;

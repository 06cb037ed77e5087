//! Admission by policies: expressions that are stored, and asked about requests like webhooks
//! (`k8s.io/apiserver/pkg/admission/plugin/policy`).
//!
//! `stored` reads policies and their bindings, `expressions` compiles what they say, `params` finds
//! what a binding gives them, `input` is what they look at.
//! `validate` asks the validating ones and `verdict` is what one of them says; `mutate` has the
//! mutating ones change an object, each by a `mutation`.

mod apply_configuration;
mod compiled;
mod denial;
mod expressions;
mod input;
mod invocations;
mod lacking;
mod mutate;
mod mutation;
mod operations;
mod params;
mod stored;
mod validate;
mod verdict;

pub(crate) use expressions::Expressions;
pub(crate) use lacking::refusal;
pub(crate) use mutate::MutatingPolicies;
pub(crate) use stored::{Policy, is_used};
pub(crate) use validate::validate;

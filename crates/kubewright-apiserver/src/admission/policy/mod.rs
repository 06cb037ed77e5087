//! Admission policies: ValidatingAdmissionPolicies and MutatingAdmissionPolicies
//! (`k8s.io/apiserver/pkg/admission/plugin/policy`).
//!
//! `definition` reads stored policies and bindings, `compiled` holds their compiled expressions,
//! `params` finds the parameters of a binding, `input` builds the variables. `validate` evaluates
//! validating policies, each to a `verdict`; `mutate` runs mutating ones, each by a `mutation`.

mod apply_configuration;
mod compiled;
mod definition;
mod denial;
mod input;
mod invocations;
mod mutate;
mod mutation;
mod operations;
mod params;
mod policies;
mod validate;
mod verdict;

pub(super) use policies::Policies;

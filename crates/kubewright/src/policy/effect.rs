//! The effects of a policy: validation and mutation.

use kubewright_core::{PolicyAction, PolicyEffect, PolicyPatch, Reinvocation, ValidationRule};

/// The effect of a [`Policy`](super::Policy) that validates objects.
#[derive(Clone, Debug)]
pub struct Validation {
    pub(super) rules: Vec<ValidationRule>,
    pub(super) actions: Vec<PolicyAction>,
}

/// The effect of a [`Policy`](super::Policy) that changes objects.
#[derive(Clone, Debug)]
pub struct Mutation {
    pub(super) patches: Vec<PolicyPatch>,
    pub(super) reinvocation: Reinvocation,
}

impl From<Validation> for PolicyEffect {
    fn from(validation: Validation) -> Self {
        Self::Validating {
            rules: validation.rules,
            actions: validation.actions,
        }
    }
}

impl From<Mutation> for PolicyEffect {
    fn from(mutation: Mutation) -> Self {
        Self::Mutating {
            patches: mutation.patches,
            reinvocation: mutation.reinvocation,
        }
    }
}

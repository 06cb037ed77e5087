use kubewright_core::{PolicyAction, PolicyEffect, PolicyPatch, Reinvocation, ValidationRule};

/// What a [`Policy`](super::Policy) does that judges objects.
#[derive(Clone, Debug)]
pub struct Validation {
    pub(super) rules: Vec<ValidationRule>,
    pub(super) actions: Vec<PolicyAction>,
}

/// What a [`Policy`](super::Policy) does that changes objects.
#[derive(Clone, Debug)]
pub struct Mutation {
    pub(super) patches: Vec<PolicyPatch>,
    pub(super) reinvocation: Reinvocation,
}

impl From<Validation> for PolicyEffect {
    fn from(Validation { rules, actions }: Validation) -> Self {
        Self::Validating { rules, actions }
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

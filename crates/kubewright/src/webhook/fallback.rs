//! The scope of a policy, for the webhook that replaces it in clusters without policies.

use kubewright_core::{Exemption, FailurePolicy, Operation};

/// The scope of a policy, as the default of its fallback webhook.
#[derive(Debug)]
pub(crate) struct FallbackScope {
    pub(crate) policy: String,
    pub(crate) operations: Vec<Operation>,
    pub(crate) failure_policy: FailurePolicy,
    pub(crate) objects: String,
    pub(crate) namespaces: String,
    pub(crate) exemption: Exemption,
}

use std::sync::Arc;

use kubewright_core::{Kind, Operation};
use serde_json::Value;

use crate::catalog::Served;
use crate::who::User;

/// What webhooks are told of a request.
#[derive(Clone, Debug)]
pub(crate) struct Attributes {
    /// The resource, in the version of the request.
    pub(crate) served: Arc<Served>,
    /// The kind of `object`, in the version of the request.
    pub(crate) kind: Kind,
    /// The part of the object that is written; empty for the whole.
    pub(crate) subresource: String,
    pub(crate) operation: Operation,
    /// Empty while it is still to be generated, and for collections.
    pub(crate) name: String,
    /// A Namespace is in its own.
    pub(crate) namespace: String,
    pub(crate) user: User,
    pub(crate) is_dry_run: bool,
    pub(crate) options: Value,
    /// As it would be.
    pub(crate) object: Option<Value>,
    /// As it is.
    pub(crate) old: Option<Value>,
}

impl Attributes {
    /// Configurations of admission are never asked about themselves, or nobody could mend them.
    pub(super) fn is_exempt(&self) -> bool {
        self.kind.group() == "admissionregistration.k8s.io"
    }
}

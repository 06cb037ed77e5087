use std::sync::Arc;

use kubewright_core::{Kind, Operation};
use kubewright_wire::status::Status;
use serde_json::Value;

use crate::catalog::Served;
use crate::who::User;

/// What webhooks and policies are told of a request.
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
    /// The refusal of the request for a reason (`NewForbidden` of k8s.io/apiserver/pkg/admission).
    pub(crate) fn forbidden(&self, why: &str) -> Status {
        let metadata = |field: &str| {
            let metadata = &self.object.as_ref()?["metadata"];
            metadata[field].as_str().filter(|text| !text.is_empty())
        };
        let name = Some(self.name.as_str()).filter(|name| !name.is_empty());
        let name = name
            .or_else(|| metadata("name"))
            .or_else(|| metadata("generateName"));
        Status::forbidden(&self.served.resource, name.unwrap_or("Unknown"), why)
    }
}

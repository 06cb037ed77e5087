//! What admission plugins know about a request.

use std::sync::Arc;

use kubewright_core::{Kind, Operation};
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use crate::authentication::User;
use crate::resources::ServedResource;
use crate::store::Object;

/// A request that writes, as plugins, policies and webhooks see it.
///
/// The object moves into the attributes for a step of the chain, and out again afterwards.
#[derive(Clone, Debug)]
pub(crate) struct AdmissionAttributes {
    /// The resource, in the version of the request.
    pub(crate) resource: Arc<ServedResource>,
    /// The kind of `object`, in the version of the request.
    pub(crate) kind: Kind,
    /// The subresource that is written; empty for the object itself.
    pub(crate) subresource: String,
    pub(crate) operation: Operation,
    /// Empty before it is generated, and for collections.
    pub(crate) name: String,
    /// Empty for cluster-scoped resources; a Namespace is in itself.
    pub(crate) namespace: String,
    pub(crate) user: User,
    pub(crate) is_dry_run: bool,
    pub(crate) options: OperationOptions,
    /// The new object; none for a deletion.
    pub(crate) object: Option<Value>,
    /// The stored object; none for a creation.
    pub(crate) old: Option<Arc<Object>>,
}

/// The options of an operation, which policies and webhooks see as an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct OperationOptions {
    pub(crate) field_manager: String,
    pub(crate) field_validation: String,
    /// The `DeleteOptions` of a deletion; null for others.
    pub(crate) delete_options: Value,
}

impl AdmissionAttributes {
    pub(crate) fn is_create(&self) -> bool {
        self.operation == Operation::Create
    }

    /// Whether the request creates or updates an object.
    pub(crate) fn is_write(&self) -> bool {
        matches!(self.operation, Operation::Create | Operation::Update)
    }

    /// Whether the request is for the object itself, not for a subresource.
    pub(crate) fn is_main(&self) -> bool {
        self.subresource.is_empty()
    }

    /// The new object; null where there is none.
    pub(crate) fn object(&self) -> &Value {
        self.object.as_ref().unwrap_or(&Value::Null)
    }

    /// The stored object.
    pub(crate) fn old(&self) -> Option<&Value> {
        self.old.as_deref().map(Object::value)
    }

    /// The options as an object, such as `CreateOptions`; null for connections.
    pub(crate) fn options(&self) -> Value {
        let kind = match self.operation {
            Operation::Create => "CreateOptions",
            Operation::Update => "UpdateOptions",
            Operation::Delete => "DeleteOptions",
            Operation::Connect => return Value::Null,
        };
        let mut options = match &self.options.delete_options {
            sent @ Value::Object(_) => sent.clone(),
            _ => json!({}),
        };
        options["apiVersion"] = json!("meta.k8s.io/v1");
        options["kind"] = json!(kind);
        for (name, value) in [
            ("fieldManager", &self.options.field_manager),
            ("fieldValidation", &self.options.field_validation),
        ] {
            if !value.is_empty() {
                options[name] = json!(value);
            }
        }
        if self.is_dry_run {
            options["dryRun"] = json!(["All"]);
        }
        options
    }

    /// The 403 for a reason (`NewForbidden` of k8s.io/apiserver/pkg/admission).
    pub(crate) fn forbidden(&self, why: &str) -> Status {
        let metadata = &self.object()["metadata"];
        let text = |field: &str| metadata[field].as_str().filter(|text| !text.is_empty());
        let name = Some(self.name.as_str())
            .filter(|name| !name.is_empty())
            .or_else(|| text("name"))
            .or_else(|| text("generateName"))
            .unwrap_or("Unknown");
        Status::forbidden(&self.resource.resource, name, why)
    }
}

//! The variables that the expressions of a policy see.

use kubewright_cel::{ConditionInput, Type, Value as CelValue, Variables};
use kubewright_kinds::core::NAMESPACE;
use kubewright_wire::status::Status;
use serde_json::{Map, Value};

use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::admission::matching::{Invocation, condition_request, request};
use crate::store::Key;

/// The metadata of a Namespace that expressions see (`CreateNamespaceObject`).
const METADATA: [&str; 12] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "name",
    "namespace",
    "resourceVersion",
    "uid",
];

/// The input of the expressions of a policy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a> {
    pub(super) attributes: &'a AdmissionAttributes,
    pub(super) invocation: &'a Invocation,
    /// The new object, in the version of the invocation.
    pub(super) object: Option<&'a Value>,
    /// The stored object, in the version of the invocation.
    pub(super) old: Option<&'a Value>,
    /// The Namespace; null for cluster-scoped objects.
    pub(super) namespace: &'a Value,
    pub(super) params: Option<&'a Value>,
}

impl Input<'_> {
    /// The variables of match conditions, without `namespaceObject`.
    pub(super) fn for_conditions(&self) -> Result<Variables, Status> {
        Ok(self.variables(&condition_request(self.invocation, self.attributes)?))
    }

    /// The variables of all other expressions.
    pub(super) fn for_expressions(&self) -> Result<Variables, Status> {
        let request = serde_json::to_value(request(self.invocation, self.attributes))
            .map_err(|error| Status::internal(format!("prepare expressions: {error}")))?;
        let mut variables = self.variables(&request);
        variables.insert("namespaceObject", untyped(self.namespace));
        Ok(variables)
    }

    fn variables(&self, request: &Value) -> Variables {
        let input = ConditionInput {
            object: self.object,
            old_object: self.old,
            request,
        };
        let mut variables = input.variables();
        variables.insert("params", self.params.map_or(CelValue::Null, untyped));
        variables
    }
}

/// A value without a declared type: timestamps are strings.
fn untyped(value: &Value) -> CelValue {
    CelValue::from_json(value, &Type::Dyn)
}

/// The Namespace of the object of a request, as expressions see it.
pub(super) fn namespace(
    context: &AdmissionContext,
    attributes: &AdmissionAttributes,
) -> Result<Value, Status> {
    let name = attributes.namespace.as_str();
    if NAMESPACE.is(&attributes.kind) || name.is_empty() {
        return Ok(Value::Null);
    }
    let key = Key::new(NAMESPACE.resource_id(), None, name);
    let Some(stored) = context.store.get(&key) else {
        return Err(Status::not_found(NAMESPACE.as_resource_tuple(), name));
    };
    let metadata = METADATA.iter().filter_map(|field| {
        let value = stored.metadata(field)?;
        Some(((*field).to_owned(), value.clone()))
    });
    let mut namespace = Map::new();
    namespace.insert("metadata".to_owned(), Value::Object(metadata.collect()));
    for field in ["spec", "status"] {
        if let Some(value) = stored.value().get(field) {
            namespace.insert(field.to_owned(), value.clone());
        }
    }
    Ok(Value::Object(namespace))
}

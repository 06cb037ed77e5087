use kubewright_cel::{ConditionInput, Type, Value as CelValue, Variables};
use kubewright_wire::status::Status;
use serde_json::{Map, Value};

use crate::admission::attributes::Attributes;
use crate::admission::context::AdmissionContext;
use crate::admission::matching::{Invocation, condition_request, request};
use crate::store::Key;

/// What an expression can know of the namespace of an object (`CreateNamespaceObject`).
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

/// What the expressions of a policy look at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a> {
    pub(super) attributes: &'a Attributes,
    pub(super) invocation: &'a Invocation,
    /// As it would be, in the version that the policy asks for.
    pub(super) object: Option<&'a Value>,
    /// As it is.
    pub(super) old: Option<&'a Value>,
    /// Null for what is in none.
    pub(super) namespace: &'a Value,
    pub(super) params: Option<&'a Value>,
}

impl Input<'_> {
    /// The variables of conditions, which do not know the namespace.
    pub(super) fn for_conditions(&self) -> Result<Variables, Status> {
        Ok(self.variables(&condition_request(self.invocation, self.attributes)?))
    }

    /// The variables of all other expressions.
    pub(super) fn for_expressions(&self) -> Result<Variables, Status> {
        let request = serde_json::to_value(request(self.invocation, self.attributes))
            .map_err(|error| Status::internal(format!("prepare expressions: {error}")))?;
        let mut variables = self.variables(&request);
        variables.insert("namespaceObject", plain(self.namespace));
        Ok(variables)
    }

    fn variables(&self, request: &Value) -> Variables {
        let input = ConditionInput {
            object: self.object,
            old_object: self.old,
            request,
        };
        let mut variables = input.variables();
        variables.insert("params", self.params.map_or(CelValue::Null, plain));
        variables
    }
}

/// A value as it stands in JSON: times are texts, whatever is declared.
fn plain(value: &Value) -> CelValue {
    CelValue::from_json(value, &Type::Dyn)
}

/// The namespace that the object of a request is in, as expressions see it.
pub(super) fn namespace(
    context: &AdmissionContext,
    attributes: &Attributes,
) -> Result<Value, Status> {
    let kind = &attributes.kind;
    let is_namespace = kind.group().is_empty() && kind.kind == "Namespace";
    let name = attributes.namespace.as_str();
    if is_namespace || name.is_empty() {
        return Ok(Value::Null);
    }
    let Some(stored) = context.store.get(&Key::new("namespaces", None, name)) else {
        return Err(Status::not_found(("", "namespaces"), name));
    };
    let metadata = METADATA.iter().filter_map(|field| {
        let value = stored.metadata(field)?;
        Some(((*field).to_owned(), value.clone()))
    });
    let mut shown = Map::new();
    shown.insert("metadata".to_owned(), Value::Object(metadata.collect()));
    for field in ["spec", "status"] {
        if let Some(part) = stored.value().get(field) {
            shown.insert(field.to_owned(), part.clone());
        }
    }
    Ok(Value::Object(shown))
}

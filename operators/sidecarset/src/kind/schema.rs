//! The parts of the schema that the derive does not generate.

use k8s_openapi::api::core::v1::LocalObjectReference;
use schemars::{Schema, SchemaGenerator, json_schema};

/// Whether a field has its default, and is omitted.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The schema of a label selector. The webhook validates what a type cannot express.
pub(crate) fn selector(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "matchLabels": {"type": "object", "additionalProperties": {"type": "string"}},
            "matchExpressions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["key", "operator"],
                    "properties": {
                        "key": {"type": "string"},
                        "operator": {"type": "string"},
                        "values": {"type": "array", "items": {"type": "string"}}
                    }
                }
            }
        }
    })
}

/// The schema of containers. As in OpenKruise's own definition, their fields are not listed, so that
/// new fields of Kubernetes are accepted.
pub(crate) fn containers(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}
    })
}

/// The schema of volumes, whose fields are not listed either.
pub(crate) fn volumes(generator: &mut SchemaGenerator) -> Schema {
    containers(generator)
}

/// The schema of references to Secrets, from Kubernetes.
pub(crate) fn secrets(generator: &mut SchemaGenerator) -> Schema {
    kubewright::schema::core::<Vec<LocalObjectReference>>(generator)
}

use k8s_openapi::api::core::v1::LocalObjectReference;
use schemars::{Schema, SchemaGenerator, json_schema};

/// For fields that are left out while they say nothing.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A label selector; the rules that need more than a type are checked by the webhook.
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

/// As in OpenKruise's own definition, a container is not described further: what Kubernetes adds to
/// it is taken at once.
pub(crate) fn containers(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}
    })
}

/// The same for volumes.
pub(crate) fn volumes(generator: &mut SchemaGenerator) -> Schema {
    containers(generator)
}

/// Names of Secrets, as Kubernetes describes them.
pub(crate) fn secrets(generator: &mut SchemaGenerator) -> Schema {
    kubewright::schema::core::<Vec<LocalObjectReference>>(generator)
}

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::probe::{Shape, shape_of};

/// The schema of a field whose type is a struct of `k8s_openapi`, or a list, map or option of
/// such, from Kubernetes' own description of it: list types, keys, defaults and required fields
/// are right for server-side apply.
///
/// It needs no feature of k8s-openapi. With its feature `schemars` the derive finds schemas by
/// itself, and the manifests complete them; these also carry descriptions.
///
/// ```
/// use kubewright::prelude::*;
/// use kubewright::k8s_openapi::api::core::v1::Toleration;
///
/// #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
/// pub struct SiteSpec {
///     #[serde(default, skip_serializing_if = "Vec::is_empty")]
///     #[schemars(schema_with = "kubewright::schema::core::<Vec<Toleration>>")]
///     pub tolerations: Vec<Toleration>,
/// }
/// ```
///
/// A type that Kubernetes does not have may be anything.
pub fn core<T: DeserializeOwned>(_: &mut SchemaGenerator) -> Schema {
    schema(&shape_of::<T>())
        .try_into()
        .unwrap_or_else(|_| Schema::default())
}

/// The schema of a number or a text, such as `maxUnavailable: 1` or `10%`.
///
/// The type of the field is
/// `k8s_openapi::apimachinery::pkg::util::intstr::IntOrString`.
pub fn int_or_string(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "x-kubernetes-int-or-string": true })
}

fn schema(shape: &Shape) -> Value {
    match shape {
        Shape::List(item) => json!({"type": "array", "items": schema(item)}),
        Shape::Map(entry) => json!({"type": "object", "additionalProperties": schema(entry)}),
        Shape::Text => json!({"type": "string"}),
        Shape::Struct { name, fields } => {
            let fields = fields.iter().copied();
            let known = kubewright_manifest::core_schema(name, fields);
            known.unwrap_or_else(|| json!({"x-kubernetes-preserve-unknown-fields": true}))
        }
        Shape::Other => json!({"x-kubernetes-preserve-unknown-fields": true}),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use k8s_openapi::api::core::v1::{Affinity, PodTemplateSpec, Toleration};
    use schemars::SchemaGenerator;
    use serde_json::{Value, json};

    use super::core;

    fn of<T: serde::de::DeserializeOwned>() -> Value {
        core::<T>(&mut SchemaGenerator::default()).to_value()
    }

    #[test]
    fn lists_maps_and_options_are_seen_through() {
        let one = of::<Toleration>();
        assert_eq!(one["properties"]["operator"], json!({"type": "string"}));
        assert_eq!(of::<Option<Toleration>>(), one);
        assert_eq!(
            of::<Vec<Toleration>>(),
            json!({"type": "array", "items": one})
        );
        assert_eq!(
            of::<BTreeMap<String, String>>(),
            json!({"type": "object", "additionalProperties": {"type": "string"}})
        );
    }

    #[test]
    fn lists_deep_below_have_their_types() {
        let template = of::<PodTemplateSpec>();
        let containers = &template["properties"]["spec"]["properties"]["containers"];
        assert_eq!(containers["x-kubernetes-list-type"], "map");
        assert_eq!(containers["x-kubernetes-list-map-keys"], json!(["name"]));
        let affinity = of::<Affinity>();
        let terms = &affinity["properties"]["nodeAffinity"]["properties"]["requiredDuringSchedulingIgnoredDuringExecution"];
        assert_eq!(terms["required"], json!(["nodeSelectorTerms"]));
    }
}

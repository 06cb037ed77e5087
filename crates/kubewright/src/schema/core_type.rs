//! The schemas of Kubernetes' own types.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::probe::{Shape, shape_of};

/// Returns the schema of a field whose type is a struct of `k8s_openapi`, or a list, map or option
/// of one, from Kubernetes' own schema: list types, keys, defaults and required fields are right
/// for server-side apply.
///
/// It needs no feature of k8s-openapi. With its feature `schemars`, the derive has schemas with
/// descriptions, which the manifests complete.
///
/// ```
/// use k8s_openapi::api::core::v1::Toleration;
/// use kubewright::prelude::*;
///
/// #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
/// pub struct SiteSpec {
///     #[serde(default, skip_serializing_if = "Vec::is_empty")]
///     #[schemars(schema_with = "kubewright::schema::core::<Vec<Toleration>>")]
///     pub tolerations: Vec<Toleration>,
/// }
/// ```
///
/// The schema of a type that Kubernetes lacks allows any value.
pub fn core<T: DeserializeOwned>(_: &mut SchemaGenerator) -> Schema {
    schema(&shape_of::<T>())
        .try_into()
        .unwrap_or_else(|_| Schema::default())
}

/// Returns the schema of an integer or a string, such as `maxUnavailable: 1` or `10%`.
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
    fn items_of_lists_maps_and_options_have_their_schema() {
        let toleration = of::<Toleration>();
        assert_eq!(
            toleration["properties"]["operator"],
            json!({"type": "string"})
        );
        assert_eq!(of::<Option<Toleration>>(), toleration);
        assert_eq!(
            of::<Vec<Toleration>>(),
            json!({"type": "array", "items": toleration})
        );
        assert_eq!(
            of::<BTreeMap<String, String>>(),
            json!({"type": "object", "additionalProperties": {"type": "string"}})
        );
    }

    #[test]
    fn nested_lists_have_their_list_types() {
        let template = of::<PodTemplateSpec>();
        let containers = &template["properties"]["spec"]["properties"]["containers"];
        assert_eq!(containers["x-kubernetes-list-type"], "map");
        assert_eq!(containers["x-kubernetes-list-map-keys"], json!(["name"]));
        let affinity = of::<Affinity>();
        let terms = &affinity["properties"]["nodeAffinity"]["properties"]["requiredDuringSchedulingIgnoredDuringExecution"];
        assert_eq!(terms["required"], json!(["nodeSelectorTerms"]));
    }
}

//! The schemas of custom resources.

use kubewright_kinds::apiextensions::CUSTOM_RESOURCE_DEFINITION;
use kubewright_kinds::json::items;
use serde_json::{Value, json};

use super::schemas::{Schemas, reference};
use crate::resources::ServedResource;
use crate::store::{Key, Snapshot};

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/// The schema of a custom resource, from its stored definition.
pub(super) fn schema_of(snapshot: &Snapshot, served: &ServedResource) -> Option<Value> {
    let key = Key::new(CUSTOM_RESOURCE_DEFINITION.resource_id(), None, &served.id);
    let definition = snapshot.get(&key)?;
    let version = items(&definition.value()["spec"]["versions"])
        .find(|version| version["name"] == served.kind().version())?;
    version.pointer("/schema/openAPIV3Schema").cloned()
}

/// Adds the schemas of a custom resource and of its lists.
pub(super) fn add(schemas: &mut Schemas, served: &ServedResource, mut schema: Value) {
    let kind = served.kind();
    let mut parts: Vec<&str> = kind.group().split('.').rev().collect();
    parts.push(kind.version());
    let package = parts.join(".");
    let entry =
        |name: &str| json!([{"group": kind.group(), "version": kind.version(), "kind": name}]);
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    let string = json!({"type": "string"});
    let properties = &mut schema["properties"];
    properties["apiVersion"] = string.clone();
    properties["kind"] = string.clone();
    properties["metadata"] = json!({"allOf": [reference(OBJECT_META)]});
    schema["type"] = json!("object");
    schema["x-kubernetes-group-version-kind"] = entry(&kind.kind);
    let name = format!("{package}.{}", kind.kind);
    let list = json!({
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": string,
            "kind": string,
            "metadata": {"allOf": [reference(LIST_META)]},
            "items": {"type": "array", "items": reference(&name)},
        },
        "x-kubernetes-group-version-kind": entry(&served.list_kind),
    });
    schemas.add(name, schema);
    schemas.add(format!("{package}.{}", served.list_kind), list);
}

//! The definition of a custom resource, with references to types of Kubernetes in its schema.

use std::any::TypeId;
use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use kube::CustomResourceExt;
use kube::core::schema::{OptionalEnum, OptionalIntOrString, StructuralSchemaRewriter};
use parking_lot::Mutex;
use schemars::generate::SchemaSettings;
use schemars::transform::{AddNullable, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// Returns the definition of kube's derive, with a schema that still refers to types of Kubernetes:
/// the manifests add what only Kubernetes' own tables have about these.
///
/// The derive inlines all types. After that, a `v1.Container` cannot be distinguished from a struct
/// of the user with the same fields.
///
/// The definition follows from the type alone and takes milliseconds, so it is cached: tests
/// describe an operator many times in one process.
pub(crate) fn custom_resource_definition<K: CustomResourceExt + JsonSchema + 'static>()
-> Option<Value> {
    static CACHE: Mutex<BTreeMap<TypeId, Option<Value>>> = Mutex::new(BTreeMap::new());

    let mut cache = CACHE.lock();
    cache
        .entry(TypeId::of::<K>())
        .or_insert_with(build::<K>)
        .clone()
}

fn build<K: CustomResourceExt + JsonSchema>() -> Option<Value> {
    let mut definition = serde_json::to_value(K::crd()).ok()?;
    let versions = definition.pointer_mut("/spec/versions");
    for version in versions.and_then(Value::as_array_mut).into_iter().flatten() {
        // With `schema = "disabled"` the derive has no schema, and none is added.
        let slot = version.pointer_mut("/schema/openAPIV3Schema");
        if let (Some(slot), Some(schema)) = (slot, schema::<K>()) {
            *slot = schema;
        }
    }
    Some(definition)
}

/// Returns the schema as kube's derive builds it, except for the first transform.
fn schema<K: JsonSchema>() -> Option<Value> {
    let mut settings = SchemaSettings::openapi3().with(|settings| settings.meta_schema = None);
    settings.transforms.insert(0, Box::new(InlineOwnReferences));
    let generator = settings
        .with_transform(AddNullable::default())
        .with_transform(StructuralSchemaRewriter)
        .with_transform(OptionalEnum)
        .with_transform(OptionalIntOrString)
        .into_generator();
    let schema = generator.into_root_schema_for::<K>().to_value();
    // Drops the keywords of JSON Schema that Kubernetes does not have.
    let known: JSONSchemaProps = serde_json::from_value(schema).ok()?;
    serde_json::to_value(known).ok()
}

#[derive(Clone, Debug)]
struct InlineOwnReferences;

impl Transform for InlineOwnReferences {
    fn transform(&mut self, schema: &mut Schema) {
        kubewright_manifest::inline_references(schema.ensure_object());
    }
}

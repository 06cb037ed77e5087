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

/// The definition that kube's derive makes, with a schema that still says which of its parts are
/// types of Kubernetes: the manifests add what only the tables know of these.
///
/// The derive inlines all types at once, after which nobody can tell a `v1.Container` from a
/// struct of the user's own with the same fields.
///
/// It follows from the type alone and takes milliseconds: a process that describes its operator
/// again and again, as tests do, makes it once.
pub(crate) fn definition<K: CustomResourceExt + JsonSchema + 'static>() -> Option<Value> {
    static MADE: Mutex<BTreeMap<TypeId, Option<Value>>> = Mutex::new(BTreeMap::new());

    let mut made = MADE.lock();
    made.entry(TypeId::of::<K>())
        .or_insert_with(make::<K>)
        .clone()
}

fn make<K: CustomResourceExt + JsonSchema>() -> Option<Value> {
    let mut definition = serde_json::to_value(K::crd()).ok()?;
    let versions = definition.pointer_mut("/spec/versions");
    for version in versions.and_then(Value::as_array_mut).into_iter().flatten() {
        // A derive that was told to make no schema means it.
        let place = version.pointer_mut("/schema/openAPIV3Schema");
        if let (Some(place), Some(schema)) = (place, schema::<K>()) {
            *place = schema;
        }
    }
    Some(definition)
}

/// As kube's derive does it, but for the first step.
fn schema<K: JsonSchema>() -> Option<Value> {
    let mut settings = SchemaSettings::openapi3().with(|settings| settings.meta_schema = None);
    settings.transforms.insert(0, Box::new(Inline));
    let generator = settings
        .with_transform(AddNullable::default())
        .with_transform(StructuralSchemaRewriter)
        .with_transform(OptionalEnum)
        .with_transform(OptionalIntOrString)
        .into_generator();
    let schema = generator.into_root_schema_for::<K>().to_value();
    // Drops what is JSON Schema and not Kubernetes'.
    let known: JSONSchemaProps = serde_json::from_value(schema).ok()?;
    serde_json::to_value(known).ok()
}

#[derive(Clone, Debug)]
struct Inline;

impl Transform for Inline {
    fn transform(&mut self, schema: &mut Schema) {
        kubewright_manifest::inline_references(schema.ensure_object());
    }
}

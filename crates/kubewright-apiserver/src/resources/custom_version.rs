//! One version of a custom resource: its schemas, conversion, columns and scale paths.

use std::sync::Arc;

use kubewright_core::{FieldSelector, Revision};
use kubewright_kinds::columns::CustomColumn;
use kubewright_kinds::custom::{Checked, CustomSchema, ScalePaths};
use serde_json::Value;

use super::conversion::Conversion;
use crate::store::Object;

/// What a version of a custom resource has besides what every resource has.
#[derive(Debug)]
pub(crate) struct CustomVersion {
    pub(crate) conversion: Conversion,
    /// The `apiVersion` that objects are stored with.
    pub(crate) storage_api_version: String,
    /// The schemas of all versions.
    pub(super) schemas: Arc<Vec<CustomSchema>>,
    /// The index of this version's schema.
    pub(super) index: usize,
    /// The revision of the definition.
    pub(super) since: Revision,
    /// The selectable fields, such as `spec.color`.
    pub(super) selectable: Vec<String>,
    /// The columns of tables besides the name.
    pub(crate) columns: Vec<CustomColumn>,
    /// The paths of the scale subresource.
    pub(crate) scale: Option<ScalePaths>,
}

impl CustomVersion {
    /// The schema of this version.
    ///
    /// # Panics
    ///
    /// Never: each version is built with the index of its own schema.
    pub(crate) fn schema(&self) -> &CustomSchema {
        let schema = self.schemas.get(self.index);
        schema.expect("each version is built with the index of its own schema")
    }

    /// The schemas of all served versions.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = &CustomSchema> {
        self.schemas.iter().filter(|schema| schema.is_served())
    }

    /// A stored object by the schema of the version that it is stored in: unknown fields are
    /// pruned, and defaults that are newer than the object are set.
    pub(crate) fn restore(&self, object: &Arc<Object>) -> Arc<Object> {
        // With one schema, an object written since the definition changed conforms to it.
        if self.schemas.len() == 1 && object.revision() > self.since {
            return Arc::clone(object);
        }
        let stored = &object.value()["apiVersion"];
        let is_stored_version =
            |schema: &&CustomSchema| *stored == schema.kind().api_version().as_str();
        let Some(schema) = self.schemas.iter().find(is_stored_version) else {
            return Arc::clone(object);
        };
        let mut value = object.value().clone();
        schema.conform(&mut value);
        if value == *object.value() {
            return Arc::clone(object);
        }
        Arc::new(Object::encoded(value, object.revision()))
    }

    /// Whether validation evaluates CEL expressions.
    pub(crate) fn has_rules(&self) -> bool {
        self.schema().has_rules()
    }

    /// Validates an object of this version.
    pub(crate) fn validate(&self, value: &Value, old: Option<&Value>) -> Checked {
        let scale = self.scale.iter();
        let problems =
            scale.flat_map(|paths| [paths.spec_problems(value), paths.status_problems(value)]);
        self.schema()
            .validate(value, old, problems.flatten().collect())
    }

    /// Validates an object of which only the status was written.
    pub(crate) fn validate_status(&self, value: &Value, old: Option<&Value>) -> Checked {
        let scale = self.scale.iter();
        let problems = scale.flat_map(|paths| paths.status_problems(value));
        self.schema()
            .validate_status(value, old, problems.collect())
    }

    /// The error for a selector with a field that is not selectable.
    pub(crate) fn unsupported_field(&self, selector: &FieldSelector) -> Option<String> {
        let is_selectable = |path: &str| {
            matches!(path, "metadata.name" | "metadata.namespace")
                || self.selectable.iter().any(|field| field == path)
        };
        let mut paths = selector.requirements.iter().map(|field| &field.path);
        let unsupported = paths.find(|path| !is_selectable(path))?;
        Some(format!("field label not supported: {unsupported}"))
    }
}

use kubewright_core::Kind;
use kubewright_wire::schema::{self, Schema, SchemaType};
use kubewright_wire::status::Cause;
use serde_json::Value;

use super::fill::{drop_nulls, fill_defaults};
use super::structural::Structural;
use super::validate::validate;

/// What one version of a custom resource looks like.
#[derive(Debug)]
pub(crate) struct CustomSchema {
    kind: Kind,
    structural: Structural,
    /// The same as types, for pruning and for the ownership of fields.
    types: Schema,
}

impl CustomSchema {
    /// Reads the schema of a definition that was accepted.
    pub(super) fn compile(kind: &Kind, open_api: Option<&Value>) -> Self {
        let types = schema::from_crd(kind, open_api)
            .or_else(|_| schema::from_crd(kind, None))
            .unwrap_or_default();
        Self {
            kind: kind.clone(),
            structural: Structural::compile(open_api.unwrap_or(&Value::Null)),
            types,
        }
    }

    /// The kind in this version.
    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The type of the objects.
    pub(crate) fn of_kind(&self) -> Option<SchemaType<'_>> {
        self.types.kind(&self.kind)
    }

    /// Drops what the schema does not know and fills in what it knows by itself; returns the
    /// paths of what was dropped.
    pub(crate) fn conform(&self, value: &mut Value) -> Vec<String> {
        let unknown = match self.of_kind() {
            Some(of_kind) => schema::prune(value, of_kind),
            None => Vec::new(),
        };
        drop_nulls(value, &self.structural);
        fill_defaults(value, &self.structural);
        unknown
    }

    /// What is wrong with an object. What was wrong before and did not change is let through.
    pub(crate) fn validate(&self, value: &Value, old: Option<&Value>) -> Vec<Cause> {
        validate(value, old, &self.structural)
    }
}

use kubewright_core::Kind;
use kubewright_wire::schema::{self, Schema, SchemaType};
use kubewright_wire::status::{Cause, CauseKind};
use serde_json::Value;

use super::fill::{drop_nulls, fill_defaults};
use super::list_types::duplicates;
use super::rules::Rules;
use super::structural::Structural;
use super::validate::{validate, validate_part};

/// What one version of a custom resource looks like.
#[derive(Debug)]
pub(crate) struct CustomSchema {
    kind: Kind,
    is_served: bool,
    structural: Structural,
    /// The same as types, for pruning and for the ownership of fields.
    types: Schema,
    rules: Option<Rules>,
}

/// What is wrong with an object, and what its writer should be told.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) causes: Vec<Cause>,
    pub(crate) warnings: Vec<String>,
}

impl CustomSchema {
    /// Reads the schema of a definition that was accepted.
    pub(super) fn compile(kind: &Kind, open_api: Option<&Value>, is_served: bool) -> Self {
        let types = schema::from_crd(kind, open_api)
            .or_else(|_| schema::from_crd(kind, None))
            .unwrap_or_default();
        Self {
            kind: kind.clone(),
            is_served,
            structural: Structural::compile(open_api.unwrap_or(&Value::Null)),
            types,
            rules: open_api.and_then(|schema| Rules::compile(schema, true)),
        }
    }

    /// The kind in this version.
    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Whether requests can be made in this version.
    pub(crate) fn is_served(&self) -> bool {
        self.is_served
    }

    /// Whether there are rules in CEL.
    pub(super) fn has_rules(&self) -> bool {
        self.rules.is_some()
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
        self.fill_defaults(value);
        unknown
    }

    /// Fills in what the schema knows by itself.
    pub(crate) fn fill_defaults(&self, value: &mut Value) {
        fill_defaults(value, &self.structural);
    }

    /// What is wrong with an object, and after its schema with its scale. What was wrong before
    /// and did not change is let through.
    pub(super) fn validate(
        &self,
        value: &Value,
        old: Option<&Value>,
        scale: Vec<Cause>,
    ) -> Checked {
        let mut causes = validate(value, old, &self.structural);
        causes.extend(scale);
        self.validate_rest(value, old, causes)
    }

    /// What is wrong with an object whose status was written.
    pub(super) fn validate_status(
        &self,
        value: &Value,
        old: Option<&Value>,
        scale: Vec<Cause>,
    ) -> Checked {
        let schema = self.structural.properties.get("status");
        let status = value.get("status").zip(schema);
        let mut causes = status.map_or_else(Vec::new, |(status, schema)| {
            let old = old.and_then(|old| old.get("status"));
            validate_part(("status", status), old, schema)
        });
        causes.extend(scale);
        self.validate_rest(value, old, causes)
    }

    /// Lists that have an item twice, and rules, which look at the whole object.
    fn validate_rest(&self, value: &Value, old: Option<&Value>, mut causes: Vec<Cause>) -> Checked {
        let had_duplicates = old.is_some_and(|old| !duplicates(old, &self.structural).is_empty());
        if !had_duplicates {
            causes.extend(duplicates(value, &self.structural));
        }
        let Some(rules) = &self.rules else {
            return Checked {
                causes,
                warnings: Vec::new(),
            };
        };
        if causes.iter().any(blocks_rules) {
            causes.push(Cause::invalid("<nil>", &Value::Null, UNCHECKED));
            return Checked {
                causes,
                warnings: Vec::new(),
            };
        }
        let found = rules.check(value, old);
        causes.extend(found.causes);
        Checked {
            causes,
            warnings: found.warnings,
        }
    }
}

const UNCHECKED: &str = "some validation rules were not checked because the object was invalid; \
                         correct the existing errors to complete validation";

/// Whether rules could not be trusted on an object with this fault (`hasBlockingErr`).
fn blocks_rules(cause: &Cause) -> bool {
    matches!(
        cause.kind,
        Some(
            CauseKind::FieldValueNotSupported
                | CauseKind::FieldValueRequired
                | CauseKind::FieldValueTooLong
                | CauseKind::FieldValueTooMany
                | CauseKind::FieldValueTypeInvalid
        )
    )
}

//! The compiled schema of one version of a custom resource.

use kubewright_core::Kind;
use kubewright_wire::schema::{self, Schema, SchemaType};
use kubewright_wire::status::{Cause, CauseKind};
use serde_json::Value;

use super::defaults::{apply_defaults, drop_nulls};
use super::list_types::duplicates;
use super::rules::Rules;
use super::structural::Structural;
use super::validate::{validate, validate_part};

/// The schema of one version of a custom resource.
#[derive(Debug)]
pub struct CustomSchema {
    kind: Kind,
    is_served: bool,
    structural: Structural,
    /// The schema as types, for pruning and for the ownership of fields.
    types: Schema,
    rules: Option<Rules>,
}

/// The result of validation.
#[derive(Debug, Default)]
pub struct Checked {
    /// The errors.
    pub causes: Vec<Cause>,
    /// The warnings.
    pub warnings: Vec<String>,
}

impl CustomSchema {
    /// Compiles the schema of a valid definition.
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
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Whether the version is served.
    pub fn is_served(&self) -> bool {
        self.is_served
    }

    /// Whether the schema has validation rules.
    pub fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    /// The type of the objects.
    pub fn of_kind(&self) -> Option<SchemaType<'_>> {
        self.types.kind(&self.kind)
    }

    /// Drops unknown fields and sets defaults. Returns the paths of the dropped fields.
    pub fn conform(&self, value: &mut Value) -> Vec<String> {
        let unknown = match self.of_kind() {
            Some(of_kind) => schema::prune(value, of_kind),
            None => Vec::new(),
        };
        drop_nulls(value, &self.structural);
        self.fill_defaults(value);
        unknown
    }

    /// Sets the defaults.
    pub fn fill_defaults(&self, value: &mut Value) {
        apply_defaults(value, &self.structural);
    }

    /// Validates an object. `scale` are the errors of its scale, which follow those of the schema.
    /// Invalid values that did not change are accepted.
    pub fn validate(&self, value: &Value, old: Option<&Value>, scale: Vec<Cause>) -> Checked {
        let mut causes = validate(value, old, &self.structural);
        causes.extend(scale);
        self.validate_rest(value, old, causes)
    }

    /// Validates an object whose status is written.
    pub fn validate_status(
        &self,
        value: &Value,
        old: Option<&Value>,
        scale: Vec<Cause>,
    ) -> Checked {
        let schema = self.structural.properties.get("status");
        let status = value.get("status").zip(schema);
        let mut causes = status.map_or_else(Vec::new, |(status, schema)| {
            let old = old.and_then(|old| old.get("status"));
            validate_part("status", status, old, schema)
        });
        causes.extend(scale);
        self.validate_rest(value, old, causes)
    }

    /// Validates the items of lists and the rules, both on the whole object.
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

/// Whether rules cannot be evaluated on an object with this error (`hasBlockingErr`).
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

//! Object literals of mutations: `Object{..}`, `Object.spec{..}` and `JSONPatch{..}`
//! (k8s.io/apiserver/pkg/cel/mutation).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::to_json::enter;
use super::types::{ObjectType, Type};
use super::value::{EvaluationResult, ObjectLiteral, Value};
use crate::budget::Budget;
use crate::error::EvaluationError;

/// The name of the type of a JSON patch operation.
pub const JSON_PATCH: &str = "JSONPatch";
/// The name of the type of a whole object. The types of its fields are `Object.spec` and so on.
const OBJECT: &str = "Object";

/// The type of a JSON patch operation (`JSONPatchType`).
pub fn patch_type() -> Type {
    let of = ObjectType::new(JSON_PATCH)
        .field("op", Type::String)
        .field("path", Type::String)
        .field("from", Type::String)
        .field("value", Type::Dyn);
    Type::Object(Arc::new(of))
}

/// The type of that name, if object literals can have it (`DynamicTypeResolver`).
pub(crate) fn object_literal_type(name: &str) -> Option<Type> {
    let is_object = name
        .strip_prefix(OBJECT)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    match name {
        JSON_PATCH => Some(patch_type()),
        name if is_object => Some(Type::ObjectLiteral(name.into())),
        _ => None,
    }
}

/// Creates an object. Fields of type `dyn` have their types checked only here.
pub(crate) fn create_object(name: &str, fields: BTreeMap<String, Value>) -> EvaluationResult {
    if name == JSON_PATCH {
        for (field, value) in &fields {
            let is_string = matches!(value, Value::String(_));
            if field != "value" && !is_string {
                let actual = value.type_name();
                return Err(EvaluationError::new(format!(
                    "unexpected type {actual} for JSONPatchType '{field}' field"
                )));
            }
        }
    }
    Ok(Value::ObjectLiteral(Arc::new(ObjectLiteral {
        name: name.into(),
        fields,
    })))
}

/// The nested objects whose type is not named after the path of the field that contains them
/// (`CheckTypeNamesMatchFieldPathNames`), one message for each. Each part is charged to the budget.
pub fn type_mismatches(
    object: &ObjectLiteral,
    budget: &mut Budget,
) -> Result<Vec<String>, EvaluationError> {
    let mut check = TypeNameCheck {
        budget,
        mismatches: Vec::new(),
    };
    check.fields(object, &object.name, 0)?;
    Ok(check.mismatches)
}

struct TypeNameCheck<'a> {
    budget: &'a mut Budget,
    mismatches: Vec<String>,
}

impl TypeNameCheck<'_> {
    fn fields(
        &mut self,
        object: &ObjectLiteral,
        expected: &str,
        depth: usize,
    ) -> Result<(), EvaluationError> {
        let depth = enter(depth)?;
        for (field, value) in &object.fields {
            self.budget.charge_bytes(expected.len() + field.len())?;
            self.value(value, &format!("{expected}.{field}"), depth)?;
        }
        Ok(())
    }

    fn value(
        &mut self,
        value: &Value,
        expected: &str,
        depth: usize,
    ) -> Result<(), EvaluationError> {
        self.budget.step()?;
        match value {
            Value::ObjectLiteral(object) => {
                if *object.name != *expected {
                    self.budget
                        .charge_bytes(expected.len() + object.name.len())?;
                    self.mismatches.push(format!(
                        "unexpected type name {:?}, expected {expected:?}, which matches field \
                         name path from root Object type",
                        object.name
                    ));
                }
                self.fields(object, expected, depth)
            }
            Value::List(items, _) => {
                let depth = enter(depth)?;
                items
                    .iter()
                    .try_for_each(|item| self.value(item, expected, depth))
            }
            Value::Map(entries) => {
                let depth = enter(depth)?;
                entries
                    .values()
                    .try_for_each(|value| self.value(value, expected, depth))
            }
            _ => Ok(()),
        }
    }
}

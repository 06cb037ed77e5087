//! The JSON patch that an expression returns.

use kubewright_cel::{Budget, JSON_PATCH, ObjectLiteral, Value as CelValue, type_mismatches};
use serde_json::{Map, Value, json};

/// The operations of a JSON patch that an expression returned (`evaluatePatchExpression`). Writing
/// them out is charged to the rest of the expression's budget.
pub(super) fn operations(value: &CelValue, budget: &mut Budget) -> Result<Vec<Value>, String> {
    let CelValue::List(items, _) = value else {
        return Err("type mismatch: JSONPatchType.expression should evaluate to array".to_owned());
    };
    items.iter().map(|item| operation(item, budget)).collect()
}

fn operation(item: &CelValue, budget: &mut Budget) -> Result<Value, String> {
    let literal = match item {
        CelValue::ObjectLiteral(literal) if *literal.name == *JSON_PATCH => literal,
        _ => {
            return Err(
                "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch"
                    .to_owned(),
            );
        }
    };
    let mut operation = Map::new();
    operation.insert("op".to_owned(), json!(string(literal, "op", budget)?));
    operation.insert("path".to_owned(), json!(string(literal, "path", budget)?));
    let from = string(literal, "from", budget)?;
    if !from.is_empty() {
        operation.insert("from".to_owned(), json!(from));
    }
    if let Some(value) = literal.fields.get("value") {
        operation.insert("value".to_owned(), to_json(value, budget)?);
    }
    Ok(Value::Object(operation))
}

fn string<'a>(
    literal: &'a ObjectLiteral,
    field: &str,
    budget: &mut Budget,
) -> Result<&'a str, String> {
    let string = match literal.fields.get(field) {
        Some(CelValue::String(string)) => &**string,
        _ => "",
    };
    budget
        .charge_bytes(string.len())
        .map_err(|error| error.to_string())?;
    Ok(string)
}

fn to_json(value: &CelValue, budget: &mut Budget) -> Result<Value, String> {
    if let CelValue::ObjectLiteral(literal) = value {
        let mismatches = type_mismatches(literal, budget).map_err(|error| error.to_string())?;
        if !mismatches.is_empty() {
            return Err(format!("type mismatch: {}", mismatches.join("\n")));
        }
    }
    value.to_json(budget).map_err(|why| {
        format!(
            "JSONPath valueExpression evaluated to a type that could not marshal to JSON: {why}"
        )
    })
}

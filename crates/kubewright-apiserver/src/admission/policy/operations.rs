use kubewright_cel::{Budget, JSON_PATCH, ObjectLiteral, Value as CelValue, type_mismatches};
use serde_json::{Map, Value, json};

/// The operations of a JSON patch that an expression comes to (`evaluatePatchExpression`), written
/// out within what the expression left of its budget.
pub(super) fn operations(value: &CelValue, budget: &mut Budget) -> Result<Vec<Value>, String> {
    let CelValue::List(items, _) = value else {
        return Err("type mismatch: JSONPatchType.expression should evaluate to array".to_owned());
    };
    items.iter().map(|item| operation(item, budget)).collect()
}

fn operation(item: &CelValue, budget: &mut Budget) -> Result<Value, String> {
    let made = match item {
        CelValue::ObjectLiteral(made) if *made.name == *JSON_PATCH => made,
        _ => {
            return Err(
                "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch"
                    .to_owned(),
            );
        }
    };
    let mut operation = Map::new();
    operation.insert("op".to_owned(), json!(text(made, "op", budget)?));
    operation.insert("path".to_owned(), json!(text(made, "path", budget)?));
    let from = text(made, "from", budget)?;
    if !from.is_empty() {
        operation.insert("from".to_owned(), json!(from));
    }
    if let Some(value) = made.fields.get("value") {
        operation.insert("value".to_owned(), written(value, budget)?);
    }
    Ok(Value::Object(operation))
}

fn text<'a>(made: &'a ObjectLiteral, field: &str, budget: &mut Budget) -> Result<&'a str, String> {
    let text = match made.fields.get(field) {
        Some(CelValue::String(text)) => &**text,
        _ => "",
    };
    let paid = budget.charge_bytes(text.len());
    paid.map(|()| text).map_err(|fault| fault.to_string())
}

fn written(value: &CelValue, budget: &mut Budget) -> Result<Value, String> {
    if let CelValue::ObjectLiteral(made) = value {
        let wrong = type_mismatches(made, budget).map_err(|fault| fault.to_string())?;
        if !wrong.is_empty() {
            return Err(format!("type mismatch: {}", wrong.join("\n")));
        }
    }
    value.to_json(budget).map_err(|why| {
        format!(
            "JSONPath valueExpression evaluated to a type that could not marshal to JSON: {why}"
        )
    })
}

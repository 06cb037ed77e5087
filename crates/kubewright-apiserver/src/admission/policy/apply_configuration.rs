//! Applies the configuration that an expression returns.

use kubewright_cel::{Budget, Value as CelValue, type_mismatches};
use kubewright_core::Kind;
use kubewright_wire::apply::overlay;
use kubewright_wire::patch::{MAX_DEPTH, depth};
use kubewright_wire::schema::{Schema, SchemaType};
use serde_json::{Value, json};

use crate::resources::ServedResource;

/// Applies the configuration that an expression returned to an object (`applyConfigPatcher`).
/// Writing it out is charged to the rest of the expression's budget.
pub(super) fn apply(
    object: &Value,
    configuration: &CelValue,
    budget: &mut Budget,
    schema: SchemaType<'_>,
    kind: &Kind,
) -> Result<Value, String> {
    let CelValue::ObjectLiteral(literal) = configuration else {
        return Err("unsupported return type from ApplyConfiguration expression".to_owned());
    };
    let mismatches = type_mismatches(literal, budget).map_err(|error| error.to_string())?;
    if !mismatches.is_empty() {
        return Err(format!("type mismatch: {}", mismatches.join("\n")));
    }
    let mut intent = configuration
        .to_native(budget)
        .map_err(|why| format!("invalid return type: {why}"))?;
    intent["apiVersion"] = json!(kind.api_version());
    intent["kind"] = json!(kind.kind);
    let applied =
        overlay(object, &intent, schema).map_err(|why| format!("error applying patch: {why}"))?;
    // The decoder rejects deeper objects, so that a stored one could not be read again.
    if depth(&applied) > MAX_DEPTH {
        return Err(format!(
            "error applying patch: nested deeper than {MAX_DEPTH}"
        ));
    }
    Ok(applied)
}

/// The schema of a kind, also of the kind of a subresource.
pub(super) fn schema_of<'a>(served: &'a ServedResource, kind: &Kind) -> Option<SchemaType<'a>> {
    match served.custom() {
        Some(custom) => custom
            .schemas()
            .find(|schema| schema.kind() == kind)
            .and_then(|schema| schema.of_kind()),
        None => Schema::builtin().kind(kind),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use kubewright_cel::{Budget, ObjectLiteral, Type, Value as CelValue};
    use kubewright_core::Kind;
    use kubewright_wire::schema::Schema;
    use serde_json::{Value, json};

    use super::apply;

    /// Maps nested to a depth.
    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!("leaf"), |below, _| json!({"x": below}))
    }

    #[test]
    fn applied_object_deeper_than_the_decoder_reads_is_rejected() {
        let applied = |live: usize, configured: usize| {
            let configuration = CelValue::ObjectLiteral(Arc::new(ObjectLiteral {
                name: "Object".into(),
                fields: BTreeMap::from([(
                    "spec".to_owned(),
                    CelValue::from_json(&nested(configured), &Type::Dyn),
                )]),
            }));
            let live = json!({"apiVersion": "v1", "kind": "Thing", "live": nested(live)});
            let kind = Kind::new("", "v1", "Thing");
            let (mut budget, schema) = (Budget::default(), Schema::builtin().untyped());
            apply(&live, &configuration, &mut budget, schema, &kind)
        };
        assert_eq!(applied(1, 126).unwrap()["spec"], nested(126));
        for (live, configured) in [(1, 127), (127, 1), (1, 300)] {
            let error = applied(live, configured).unwrap_err();
            assert!(error.ends_with("nested deeper than 127"), "{error}");
        }
    }
}

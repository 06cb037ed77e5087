//! Applies the configuration that an expression returns.

use kubewright_cel::{Budget, Value as CelValue, type_mismatches};
use kubewright_core::Kind;
use kubewright_wire::apply::overlay;
use kubewright_wire::patch::{MAX_DEPTH, depth};
use kubewright_wire::schema::{Schema, SchemaType};
use serde_json::{Value, json};

use crate::resources::ServedResource;

/// The object with what an expression comes to laid over it (`applyConfigPatcher`), which is
/// written out within what the expression left of its budget.
pub(super) fn laid_over(
    object: &Value,
    configuration: &CelValue,
    budget: &mut Budget,
    schema: SchemaType<'_>,
    kind: &Kind,
) -> Result<Value, String> {
    let CelValue::ObjectLiteral(made) = configuration else {
        return Err("unsupported return type from ApplyConfiguration expression".to_owned());
    };
    let wrong = type_mismatches(made, budget).map_err(|fault| fault.to_string())?;
    if !wrong.is_empty() {
        return Err(format!("type mismatch: {}", wrong.join("\n")));
    }
    let mut intent = configuration
        .to_native(budget)
        .map_err(|why| format!("invalid return type: {why}"))?;
    intent["apiVersion"] = json!(kind.api_version());
    intent["kind"] = json!(kind.kind);
    let laid =
        overlay(object, &intent, schema).map_err(|why| format!("error applying patch: {why}"))?;
    // A stored object must stay readable.
    if depth(&laid) > MAX_DEPTH {
        return Err(format!(
            "error applying patch: nested deeper than {MAX_DEPTH}"
        ));
    }
    Ok(laid)
}

/// What objects of a kind look like, also those of a part of a resource.
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

    use super::laid_over;

    /// A map in a map, that many of them.
    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!("leaf"), |below, _| json!({"x": below}))
    }

    #[test]
    fn no_object_becomes_deeper_than_it_can_be_read_again() {
        let laid = |live: usize, made: usize| {
            let made = CelValue::ObjectLiteral(Arc::new(ObjectLiteral {
                name: "Object".into(),
                fields: BTreeMap::from([(
                    "spec".to_owned(),
                    CelValue::from_json(&nested(made), &Type::Dyn),
                )]),
            }));
            let live = json!({"apiVersion": "v1", "kind": "Thing", "live": nested(live)});
            let kind = Kind::new("", "v1", "Thing");
            let (mut budget, schema) = (Budget::default(), Schema::builtin().untyped());
            laid_over(&live, &made, &mut budget, schema, &kind)
        };
        assert_eq!(laid(1, 126).unwrap()["spec"], nested(126));
        for (live, made) in [(1, 127), (127, 1), (1, 300)] {
            let refused = laid(live, made).unwrap_err();
            assert!(refused.ends_with("nested deeper than 127"), "{refused}");
        }
    }
}

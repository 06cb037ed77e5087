use std::collections::BTreeMap;
use std::sync::Arc;

use super::budget::Budget;
use super::json::below;
use super::problem::Fault;
use super::types::{ObjectType, Type};
use super::value::Value;

/// How the type of an operation of a JSON patch is called.
pub(crate) const PATCH: &str = "JSONPatch";
/// How the type of an object is called; those of its fields follow with a dot.
const OBJECT: &str = "Object";

/// An object that an expression makes: `JSONPatch{..}`, `Object{..}`, `Object.spec{..}`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Made {
    pub(crate) name: Arc<str>,
    pub(crate) fields: BTreeMap<String, Value>,
}

/// The type of an operation of a JSON patch (`JSONPatchType` of k8s.io/apiserver/pkg/cel/mutation).
pub(crate) fn patch_type() -> Type {
    let text = |name: &str| (name.to_owned(), (name.to_owned(), Type::String));
    let value = ("value".to_owned(), ("value".to_owned(), Type::Dyn));
    let fields = [text("op"), text("path"), text("from"), value];
    Type::Object(Arc::new(ObjectType {
        name: PATCH.to_owned(),
        fields: fields.into(),
    }))
}

/// The type that has this name (`DynamicTypeResolver`).
pub(super) fn made_type(name: &str) -> Option<Type> {
    let is_object = name
        .strip_prefix(OBJECT)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    match name {
        PATCH => Some(patch_type()),
        name if is_object => Some(Type::Made(name.into())),
        _ => None,
    }
}

/// An object of these fields. What has no declared type is looked at only here.
pub(super) fn make(name: &str, fields: BTreeMap<String, Value>) -> Result<Value, Fault> {
    if name == PATCH {
        for (field, value) in &fields {
            let is_text = matches!(value, Value::String(_));
            if field != "value" && !is_text {
                let given = value.type_name();
                return Err(Fault::new(format!(
                    "unexpected type {given} for JSONPatchType '{field}' field"
                )));
            }
        }
    }
    Ok(Value::Made(Arc::new(Made {
        name: name.into(),
        fields,
    })))
}

/// Where the types of objects in objects are not called after the fields that they stand in
/// (`CheckTypeNamesMatchFieldPathNames`). Each part that is looked at costs a step, as when it is
/// written.
pub(crate) fn type_mismatches(made: &Made, budget: &mut Budget) -> Result<Vec<String>, Fault> {
    let mut search = Search {
        budget,
        wrong: Vec::new(),
    };
    search.fields(made, &made.name, 0)?;
    Ok(search.wrong)
}

struct Search<'a> {
    budget: &'a mut Budget,
    wrong: Vec<String>,
}

impl Search<'_> {
    fn fields(&mut self, made: &Made, expected: &str, depth: usize) -> Result<(), Fault> {
        let depth = below(depth)?;
        for (field, value) in &made.fields {
            self.budget.bytes(expected.len() + field.len())?;
            self.value(value, &format!("{expected}.{field}"), depth)?;
        }
        Ok(())
    }

    fn value(&mut self, value: &Value, expected: &str, depth: usize) -> Result<(), Fault> {
        self.budget.step()?;
        match value {
            Value::Made(made) => {
                if *made.name != *expected {
                    self.budget.bytes(expected.len() + made.name.len())?;
                    self.wrong.push(format!(
                        "unexpected type name {:?}, expected {expected:?}, which matches field \
                         name path from root Object type",
                        made.name
                    ));
                }
                self.fields(made, expected, depth)
            }
            Value::List(items, _) => {
                let depth = below(depth)?;
                items
                    .iter()
                    .try_for_each(|item| self.value(item, expected, depth))
            }
            Value::Map(entries) => {
                let depth = below(depth)?;
                entries
                    .values()
                    .try_for_each(|value| self.value(value, expected, depth))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::type_mismatches;
    use crate::cel::{Budget, Environment, Fault, Program, Refusal, Type, Value, Variables};

    fn environment() -> Environment {
        let environment = Environment::default().variable("object", Type::Dyn);
        environment.making_patches()
    }

    fn evaluated(source: &str) -> Result<Value, String> {
        let program = Program::compile(source, &environment()).map_err(|why| why.to_string())?;
        let object = Value::from_json(&json!({"a": 1}), &Type::Dyn);
        let variables = Variables::from([("object", object)]);
        let value = program.evaluate(&variables, &mut Budget::default());
        value.map_err(|fault| fault.to_string())
    }

    fn written(source: &str) -> Json {
        let value = evaluated(source).unwrap();
        value.to_json(&mut Budget::default()).unwrap()
    }

    fn mismatches(source: &str) -> Vec<String> {
        match evaluated(source) {
            Ok(Value::Made(made)) => type_mismatches(&made, &mut Budget::default()).unwrap(),
            other => panic!("{source}: {other:?}"),
        }
    }

    #[test]
    fn objects_are_made_with_what_is_there() {
        assert_eq!(
            written("Object{spec: Object.spec{a: 1 + 1, b: ['x'], c: {'d': 2.5}}, e: null}"),
            json!({"spec": {"a": 2, "b": ["x"], "c": {"d": 2.5}}, "e": null})
        );
        assert_eq!(
            written("Object{?a: optional.none(), ?b: optional.of(1)}"),
            json!({"b": 1})
        );
        assert_eq!(written("Object{}"), json!({}));
        assert_eq!(
            written("[JSONPatch{op: 'add', path: '/x', value: object.a}]"),
            json!([{"op": "add", "path": "/x", "value": 1}])
        );
    }

    #[test]
    fn what_was_made_can_be_looked_into() {
        for source in [
            "Object{a: [1, 2, 3]}.a.sum() == 6",
            "Object{a: 1} == Object{a: 2 - 1} && Object{a: 1} != Object{a: 2}",
            "has(Object{a: 1}.a) && !has(Object{a: 1}.b) && Object{}.?a == optional.none()",
            "Object{}.a == null && optional.ofNonZeroValue(Object{}) == optional.none()",
            "jsonpatch.escapeKey('a/b~c') == 'a~1b~0c'",
            "JSONPatch{op: 'add', path: '/x'}.op == 'add'",
        ] {
            assert_eq!(evaluated(source), Ok(Value::Bool(true)), "{source}");
        }
    }

    #[test]
    fn numbers_that_json_cannot_hold_are_written_as_texts() {
        assert_eq!(
            written("9007199254740991"),
            json!(9_007_199_254_740_991_i64)
        );
        assert_eq!(written("9007199254740993"), json!("9007199254740993"));
        assert_eq!(written("b'ab'"), json!("YWI="));
        assert_eq!(written("duration('90m')"), json!("5400s"));
        assert_eq!(written("2.0"), json!(2));
        let quantity = evaluated("quantity('1')").unwrap();
        assert!(quantity.to_json(&mut Budget::default()).is_err());
    }

    #[test]
    fn whole_numbers_of_a_configuration_stay_numbers() {
        let value = evaluated("Object{a: 9007199254740993, b: [-9007199254740993]}").unwrap();
        assert_eq!(
            value.to_native(&mut Budget::default()),
            Ok(json!({"a": 9_007_199_254_740_993_i64, "b": [-9_007_199_254_740_993_i64]}))
        );
    }

    #[test]
    fn what_is_small_only_because_it_is_shared_is_not_written_out() {
        let many = format!("[0]{}", ".map(a, [a, a, a, a, a, a, a, a, a, a])".repeat(9));
        let made = evaluated(&format!("Object{{a: {many}}}")).unwrap();
        assert_eq!(made.to_json(&mut Budget::default()), Err(Fault::Spent));
        assert_eq!(made.to_native(&mut Budget::default()), Err(Fault::Spent));
        let Value::Made(made) = made else {
            panic!("{many}");
        };
        let found = type_mismatches(&made, &mut Budget::default());
        assert_eq!(found, Err(Fault::Spent));
    }

    #[test]
    fn what_is_written_nests_only_so_deep() {
        let nested = |depth: usize| {
            let value = (0..depth).fold(Value::Null, |below, _| Value::list(vec![below]));
            value.to_json(&mut Budget::default())
        };
        assert!(nested(127).is_ok());
        let deep = nested(128).unwrap_err();
        assert_eq!(deep.to_string(), "nested deeper than 127");
    }

    #[test]
    fn types_are_called_after_their_fields() {
        assert_eq!(
            mismatches("Object{a: [Object.a{b: Object.a.b{}}]}"),
            [""; 0]
        );
        assert_eq!(
            mismatches("Object{a: Object.b{}}"),
            [
                "unexpected type name \"Object.b\", expected \"Object.a\", which matches field name \
              path from root Object type"
            ]
        );
        assert_eq!(
            mismatches("Object{a: {'x': Object.a{c: Object.c{}}}}").len(),
            1
        );
    }

    #[test]
    fn texts_of_a_patch_are_looked_at_when_they_are_there() {
        let wrong = evaluated("[JSONPatch{op: object.a, path: '/x'}]").unwrap_err();
        assert!(wrong.ends_with("for JSONPatchType 'op' field"), "{wrong}");
    }

    #[test]
    fn nothing_is_made_where_no_patches_are() {
        let plain = Environment::default();
        for source in ["Object{}", "JSONPatch{op: 'add'}", "Other{a: 1}"] {
            let refused = Program::compile(source, &plain).map(drop).unwrap_err();
            let Refusal::Wrong(why) = refused else {
                panic!("{source}: {refused}");
            };
            assert!(why.contains("undeclared reference to"), "{why}");
        }
        assert!(Program::compile("jsonpatch.escapeKey('x')", &plain).is_err());
        assert!(Program::compile("Other{}", &environment()).is_err());
        for source in [
            "Object{",
            "Object{a}",
            "Object{a: }",
            "Object{1: 2}",
            "f().x{a: 1}",
        ] {
            assert!(
                Program::compile(source, &environment()).is_err(),
                "{source}"
            );
        }
    }
}

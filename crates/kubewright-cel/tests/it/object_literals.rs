//! Object literals of mutations: creation, conversion to JSON, names of types.

use kubewright_cel::{
    Budget, CompileError, Environment, EvaluationError, Program, Type, Value, Variables,
    type_mismatches,
};
use serde_json::{Value as Json, json};

fn environment() -> Environment {
    let environment = Environment::default().variable("object", Type::Dyn);
    environment.with_patch_types()
}

fn evaluate(source: &str) -> Result<Value, String> {
    let program = Program::compile(source, &environment()).map_err(|error| error.to_string())?;
    let object = Value::from_json(&json!({"a": 1}), &Type::Dyn);
    let variables = Variables::from([("object", object)]);
    let value = program.evaluate(&variables, &mut Budget::default());
    value.map_err(|error| error.to_string())
}

fn to_json(source: &str) -> Json {
    let value = evaluate(source).expect(source);
    value.to_json(&mut Budget::default()).expect(source)
}

fn mismatches(source: &str) -> Vec<String> {
    match evaluate(source).expect(source) {
        Value::ObjectLiteral(object) => {
            type_mismatches(&object, &mut Budget::default()).expect(source)
        }
        other => vec![format!("{other:?}")],
    }
}

#[test]
fn object_literals_have_the_fields_that_are_set() {
    assert_eq!(
        to_json("Object{spec: Object.spec{a: 1 + 1, b: ['x'], c: {'d': 2.5}}, e: null}"),
        json!({"spec": {"a": 2, "b": ["x"], "c": {"d": 2.5}}, "e": null})
    );
    assert_eq!(
        to_json("Object{?a: optional.none(), ?b: optional.of(1)}"),
        json!({"b": 1})
    );
    assert_eq!(to_json("Object{}"), json!({}));
    assert_eq!(
        to_json("[JSONPatch{op: 'add', path: '/x', value: object.a}]"),
        json!([{"op": "add", "path": "/x", "value": 1}])
    );
}

#[test]
fn object_literals_can_be_selected_from_and_compared() {
    for source in [
        "Object{a: [1, 2, 3]}.a.sum() == 6",
        "Object{a: 1} == Object{a: 2 - 1} && Object{a: 1} != Object{a: 2}",
        "has(Object{a: 1}.a) && !has(Object{a: 1}.b) && Object{}.?a == optional.none()",
        "Object{}.a == null && optional.ofNonZeroValue(Object{}) == optional.none()",
        "jsonpatch.escapeKey('a/b~c') == 'a~1b~0c'",
        "JSONPatch{op: 'add', path: '/x'}.op == 'add'",
    ] {
        assert_eq!(evaluate(source), Ok(Value::Bool(true)), "{source}");
    }
}

#[test]
fn integers_beyond_53_bits_become_strings_in_json() {
    assert_eq!(
        to_json("9007199254740991"),
        json!(9_007_199_254_740_991_i64)
    );
    assert_eq!(to_json("9007199254740993"), json!("9007199254740993"));
    assert_eq!(to_json("b'ab'"), json!("YWI="));
    assert_eq!(to_json("duration('90m')"), json!("5400s"));
    assert_eq!(to_json("2.0"), json!(2));
    let quantity = evaluate("quantity('1')").unwrap();
    assert!(quantity.to_json(&mut Budget::default()).is_err());
}

#[test]
fn integers_of_an_apply_configuration_stay_numbers() {
    let value = evaluate("Object{a: 9007199254740993, b: [-9007199254740993]}").unwrap();
    assert_eq!(
        value.to_native(&mut Budget::default()),
        Ok(json!({"a": 9_007_199_254_740_993_i64, "b": [-9_007_199_254_740_993_i64]}))
    );
}

#[test]
fn conversion_of_shared_parts_ends_with_the_budget() {
    let many = format!("[0]{}", ".map(a, [a, a, a, a, a, a, a, a, a, a])".repeat(9));
    let value = evaluate(&format!("Object{{a: {many}}}")).unwrap();
    assert_eq!(
        value.to_json(&mut Budget::default()),
        Err(EvaluationError::BudgetExceeded)
    );
    assert_eq!(
        value.to_native(&mut Budget::default()),
        Err(EvaluationError::BudgetExceeded)
    );
    let Value::ObjectLiteral(object) = value else {
        panic!("{many}");
    };
    let found = type_mismatches(&object, &mut Budget::default());
    assert_eq!(found, Err(EvaluationError::BudgetExceeded));
}

#[test]
fn types_of_nested_objects_must_be_named_after_their_fields() {
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
fn dynamic_fields_of_a_json_patch_are_checked_at_run_time() {
    let error = evaluate("[JSONPatch{op: object.a, path: '/x'}]").unwrap_err();
    assert!(error.ends_with("for JSONPatchType 'op' field"), "{error}");
}

#[test]
fn object_literals_need_the_patch_types() {
    let plain = Environment::default();
    for source in ["Object{}", "JSONPatch{op: 'add'}", "Other{a: 1}"] {
        let error = Program::compile(source, &plain).map(drop).unwrap_err();
        let CompileError::Invalid(errors) = error else {
            panic!("{source}: {error}");
        };
        assert!(errors.contains("undeclared reference to"), "{errors}");
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

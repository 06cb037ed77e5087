//! Variables of policies.

use kubewright_cel::{
    Budget, CompileError, Composition, Environment, EvaluationError, LazyVariables, Type, Value,
    Variables,
};

fn base() -> Environment {
    Environment::default().variable("object", Type::Dyn)
}

fn compose(variables: &[(&str, &str)]) -> Composition {
    let mut composition = Composition::default();
    for (name, expression) in variables {
        composition
            .add(name, expression, &base())
            .expect(expression);
    }
    composition
}

fn evaluate(variables: &[(&str, &str)], source: &str) -> Result<Value, EvaluationError> {
    let composition = compose(variables);
    let environment = composition.environment(&base());
    let program = composition
        .compile(source, &environment, &[])
        .expect(source);
    let values = Variables::from([("object", Value::Null)]);
    LazyVariables::new(&composition).evaluate(&program, &values, &mut Budget::default())
}

#[test]
fn variables_can_use_those_before_them() {
    let two = [("a", "1 + 1"), ("b", "variables.a * 10")];
    assert_eq!(
        evaluate(&two, "variables.b + variables.a"),
        Ok(Value::Int(22))
    );
    let hidden = "[{'a': 5}].all(variables, variables.a == 5)";
    assert_eq!(evaluate(&two, hidden), Ok(Value::Bool(true)));
    assert_eq!(
        evaluate(&two, "has(variables.a) && variables.?a == optional.of(2)"),
        Ok(Value::Bool(true))
    );
}

#[test]
fn variables_that_fail_matter_only_where_they_are_used() {
    let broken = [("a", "object.x"), ("b", "variables.a + 1"), ("c", "3")];
    assert_eq!(evaluate(&broken, "variables.c"), Ok(Value::Int(3)));
    assert_eq!(
        evaluate(&broken, "true || variables.b == 1"),
        Ok(Value::Bool(true))
    );
    let message = "composited variable \"b\" fails to evaluate: composited variable \"a\" fails to \
                evaluate: no such key: x";
    assert_eq!(
        evaluate(&broken, "variables.b"),
        Err(EvaluationError::Failed(message.to_owned()))
    );
}

#[test]
fn the_last_variable_of_a_name_counts_and_can_use_the_one_before_it() {
    let twice = [
        ("a", "1"),
        ("a", "variables.a + 1"),
        ("a", "variables.a * 10"),
    ];
    assert_eq!(evaluate(&twice, "variables.a"), Ok(Value::Int(20)));
}

#[test]
fn variables_are_computed_once() {
    let list = "[1,2,3,4,5,6,7,8,9,10]";
    let expensive =
        format!("{list}.all(a, {list}.all(b, {list}.all(c, {list}.all(d, {list}.all(e, a > 0)))))");
    let variables = [("expensive", expensive.as_str())];
    let uses = vec!["variables.expensive"; 30].join(" && ");
    assert_eq!(evaluate(&variables, &uses), Ok(Value::Bool(true)));
}

#[test]
fn variables_of_plain_types_are_typed_and_others_are_dyn() {
    let mut composition = compose(&[("n", "1"), ("l", "['a']"), ("o", "optional.of(1)")]);
    let environment = composition.environment(&base());
    let result_type = |source: &str| {
        let program = composition.compile(source, &environment, &[]);
        program.map(|program| program.result_type().to_string())
    };
    assert_eq!(result_type("variables.n").unwrap(), "int");
    assert_eq!(result_type("variables.l[0]").unwrap(), "string");
    assert_eq!(result_type("variables.o").unwrap(), "dyn");
    assert!(matches!(
        result_type("variables.none"),
        Err(CompileError::Invalid(_))
    ));
    assert!(matches!(
        result_type("variables"),
        Err(CompileError::Unsupported(_))
    ));
    assert!(composition.add("wrong", "nothing", &base()).is_err());
    let environment = composition.environment(&base());
    assert!(
        composition
            .compile("variables.wrong == 1", &environment, &[])
            .is_ok()
    );
}

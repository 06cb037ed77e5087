//! Target for CEL expressions.

use std::sync::Arc;

use kubewright_cel::{
    Budget, Composition, Environment, LazyVariables, ObjectType, Program, SizeLimits, Type, Value,
    Variables,
};
use serde_json::json;

/// An expression fails to compile or is evaluated within its budget, alone and in a policy.
/// Whitespace or parentheses around it do not change the result.
///
/// # Panics
///
/// When that does not hold.
pub fn cel(bytes: &[u8]) {
    let source = String::from_utf8_lossy(bytes);
    evaluate_in_policy(&source);
    let evaluated = evaluate_cel(&source);
    assert!(
        evaluated.is_none() || !source.trim().is_empty(),
        "an empty expression compiles"
    );
    assert_eq!(evaluate_cel(&format!(" {source}\n")), evaluated, "{source}");
    // The closing parenthesis would be part of a comment or of a string that is not closed.
    let is_plain = !source.contains(['\n', '\r', '"', '\\', '\'']) && !source.contains("//");
    if is_plain && evaluated.is_some() {
        assert_eq!(evaluate_cel(&format!("({source})")), evaluated, "{source}");
    }
}

/// The estimated cost of an expression and its value or error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluatedCel {
    /// The estimate without limits of a schema.
    pub cost: u64,
    /// The result in the format of `Debug`.
    pub result: String,
}

/// Evaluates an expression; `None` if it does not compile.
pub fn evaluate_cel(source: &str) -> Option<EvaluatedCel> {
    let (environment, of) = environment();
    let program = Program::compile(source, &environment).ok()?;
    let result = program.evaluate(&variables(&of), &mut Budget::default());
    Some(EvaluatedCel {
        cost: program.cost(&SizeLimits::default()),
        result: format!("{result:?}"),
    })
}

/// Evaluates an expression of a policy, which can create objects and use variables, and converts
/// its value to JSON.
fn evaluate_in_policy(source: &str) {
    let (environment, of) = environment();
    let base = environment.with_patch_types();
    let mut composition = Composition::default();
    for (name, expression) in [("a", "self.n + 1"), ("b", source)] {
        // A variable that does not compile is declared too, and fails where it is used.
        drop(composition.add(name, expression, &base));
    }
    let composed = composition.environment(&base);
    for source in [source, "variables.b"] {
        if let Ok(program) = composition.compile(source, &composed, &[]) {
            let lazy = LazyVariables::new(&composition);
            let value = lazy.evaluate(&program, &variables(&of), &mut Budget::default());
            drop(value.map(|value| value.to_json(&mut Budget::default())));
        }
    }
}

fn variables(of: &Type) -> Variables {
    let object = json!({"n": 3, "s": "a,b", "l": [1, 2], "m": {"a": "x"}});
    Variables::from([("self", Value::from_json(&object, of))])
}

/// The variable `self`, and its type.
fn environment() -> (Environment, Type) {
    let object = ObjectType::new("self")
        .field("n", Type::Int)
        .field("s", Type::String)
        .field("l", Type::list(Type::Int))
        .field("m", Type::map(Type::String, Type::Dyn));
    let of = Type::Object(Arc::new(object));
    (Environment::default().variable("self", of.clone()), of)
}

use std::sync::Arc;

use serde_json::json;

use super::{
    Budget, Composition, Declared, Environment, Lazy, ObjectType, Program, Type, Value, Variables,
};

/// An expression is refused or carried out within its budget, alone and in a policy; what stands
/// around it, spaces or parentheses, changes nothing.
///
/// # Panics
///
/// When that does not hold.
pub fn cel(bytes: &[u8]) {
    let source = String::from_utf8_lossy(bytes);
    try_in_policy(&source);
    let tried = try_out(&source);
    assert!(
        tried.is_none() || !source.trim().is_empty(),
        "an expression is not empty"
    );
    assert_eq!(try_out(&format!(" {source}\n")), tried, "{source}");
    // A comment or an open quote at its end would swallow the parenthesis.
    let is_plain = !source.contains(['\n', '\r', '"', '\\', '\'']) && !source.contains("//");
    if is_plain && tried.is_some() {
        assert_eq!(try_out(&format!("({source})")), tried, "{source}");
    }
}

/// What it may cost and what it comes to, when it compiles.
pub(super) fn try_out(source: &str) -> Option<(u64, String)> {
    let (environment, of) = environment();
    let program = Program::compile(source, &environment).ok()?;
    let object = json!({"n": 3, "s": "a,b", "l": [1, 2], "m": {"a": "x"}});
    let variables = Variables::from([("self", Value::from_json(&object, &of))]);
    let result = program.evaluate(&variables, &mut Budget::default());
    Some((program.cost(&Declared::default()), format!("{result:?}")))
}

/// The same for an expression of a policy, which may make objects and has variables; what it comes
/// to is written out.
fn try_in_policy(source: &str) {
    let (base, of) = environment();
    let base = base.making_patches();
    let mut composition = Composition::default();
    composition
        .add("a", "self.n + 1", &base)
        .unwrap_or_default();
    composition.add("b", source, &base).unwrap_or_default();
    let environment = composition.environment(&base);
    let object = json!({"n": 3, "s": "a,b", "l": [1, 2], "m": {"a": "x"}});
    let variables = Variables::from([("self", Value::from_json(&object, &of))]);
    for source in [source, "variables.b"] {
        if let Ok(program) = composition.compile(source, &environment, &[]) {
            let lazy = Lazy::new(&composition);
            let value = lazy.evaluate(&program, &variables, &mut Budget::default());
            drop(value.map(|value| value.to_json(&mut Budget::default())));
        }
    }
}

fn environment() -> (Environment, Type) {
    let fields = [
        ("n", Type::Int),
        ("s", Type::String),
        ("l", Type::list(Type::Int)),
        ("m", Type::map(Type::String, Type::Dyn)),
    ];
    let fields = fields.map(|(name, of)| (name.to_owned(), (name.to_owned(), of)));
    let of = Type::Object(Arc::new(ObjectType {
        name: "self".to_owned(),
        fields: fields.into(),
    }));
    (Environment::default().variable("self", of.clone()), of)
}

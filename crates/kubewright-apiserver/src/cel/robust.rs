//! Whatever stands where an expression is expected: it is refused or carried out, soon.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any, proptest};
use proptest::sample::select;
use proptest::{prop_assert, prop_assert_eq};
use serde_json::json;

use super::{
    Budget, Composition, Declared, Environment, Lazy, ObjectType, Program, Type, Value, Variables,
};

const PATIENCE: Duration = Duration::from_secs(20);
const LONG: usize = 100_000;

const WORDS: &[&str] = &[
    "self",
    ".n",
    ".s",
    ".l",
    ".m",
    ".?s",
    ".orValue('')",
    "[0]",
    "['a']",
    "[?0]",
    " + ",
    " - ",
    " * ",
    " / ",
    " % ",
    " == ",
    " != ",
    " < ",
    " >= ",
    " && ",
    " || ",
    "!",
    "-",
    " ? ",
    " : ",
    " in ",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    "1",
    "2.5",
    "3u",
    "'x'",
    "b'y'",
    "r'\\d'",
    "null",
    "true",
    ".all(x, x > 0)",
    ".map(x, ",
    ".filter(x, ",
    ".exists_one(x, ",
    ".sortBy(x, ",
    ".optMap(x, ",
    ".transformMap(k, v, ",
    "x",
    ".size()",
    ".split(',')",
    ".join()",
    ".matches('",
    "size(",
    "string(",
    "dyn(",
    "has(self.n)",
    "duration('1h')",
    "quantity('1')",
    ".sum()",
    ".replace('a', 'b')",
    ".format([",
    "sets.contains(",
    "Object",
    ".spec{",
    "JSONPatch{op: ",
    "{a: ",
    "?a: ",
    "variables.a",
    "variables",
    "jsonpatch.escapeKey(",
    "lists.range(",
    "\n",
    "é",
    "\\",
    "\"",
];

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

/// What it may cost and what it comes to, when it compiles.
fn try_out(source: &str) -> Option<(u64, String)> {
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
    let base = environment().0.making_patches();
    let mut composition = Composition::default();
    composition
        .add("a", "self.n + 1", &base)
        .unwrap_or_default();
    composition.add("b", source, &base).unwrap_or_default();
    let environment = composition.environment(&base);
    let object = json!({"n": 3, "s": "a,b", "l": [1, 2], "m": {"a": "x"}});
    let variables = Variables::from([("self", Value::from_json(&object, &environment_type()))]);
    for source in [source, "variables.b"] {
        if let Ok(program) = composition.compile(source, &environment, &[]) {
            let lazy = Lazy::new(&composition);
            let value = lazy.evaluate(&program, &variables, &mut Budget::default());
            drop(value.map(|value| value.to_json(&mut Budget::default())));
        }
    }
}

fn environment_type() -> Type {
    environment().1
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn words_of_the_language_in_any_order_do_no_harm(words in vec(select(WORDS), 0..16)) {
        let source = words.concat();
        try_in_policy(&source);
        let tried = try_out(&source);
        // An expression is not empty, and what stands around it means nothing.
        prop_assert!(tried.is_none() || !source.trim().is_empty());
        prop_assert_eq!(try_out(&format!(" {source}\n")), tried);
    }

    #[test]
    fn noise_does_no_harm(bytes in vec(any::<u8>(), 0..64)) {
        let source = String::from_utf8_lossy(&bytes);
        prop_assert!(try_out(&source).is_none() || !source.trim().is_empty());
    }

    #[test]
    fn what_stands_in_parentheses_is_what_it_was(words in vec(select(WORDS), 1..10).prop_map(|words| words.concat())) {
        // Unless the text ends in a comment or an open quote, which swallow the parenthesis.
        let is_plain = !words.contains(['\n', '"', '\\', '\'']) && !words.contains("//");
        let tried = try_out(&words);
        if is_plain && tried.is_some() {
            prop_assert_eq!(try_out(&format!("({words})")), tried);
        }
    }
}

#[test]
fn long_expressions_take_no_longer_than_they_are() {
    let sources = [
        "(".repeat(LONG),
        "[".repeat(LONG),
        "!".repeat(LONG),
        "-".repeat(LONG),
        "self".to_owned() + &".n".repeat(LONG / 2),
        "1".to_owned() + &" + 1".repeat(LONG / 4),
        "true".to_owned() + &" || true".repeat(LONG / 8),
        "true".to_owned() + &" ? true : true".repeat(LONG / 14),
        format!("[{}]", "1, ".repeat(LONG / 3)),
        format!("{{{}}}", "'a': 1, ".repeat(LONG / 8)),
        format!("'{}", "\\n".repeat(LONG / 2)),
        "self.l".to_owned() + &".map(x, x)".repeat(LONG / 10),
        "a.".repeat(LONG / 2),
        "Object{a: ".repeat(LONG / 10),
        "(((self.n".to_owned() + &".n".repeat(80) + &format!("){}", ".n".repeat(80)).repeat(3),
        "a.b{c: 1}.".repeat(LONG / 10),
        " ".repeat(LONG),
    ];
    for source in sources {
        let (done, finished) = mpsc::sync_channel(1);
        let beginning: String = source.chars().take(12).collect();
        let worker = thread::spawn(move || {
            let compiled = try_out(&source).is_some();
            // Nobody listens any more when it took too long.
            done.send(compiled).unwrap_or_default();
        });
        let ended = finished.recv_timeout(PATIENCE);
        let is_late = ended == Err(mpsc::RecvTimeoutError::Timeout);
        assert!(!is_late, "{beginning:?} takes more than {PATIENCE:?}");
        assert!(worker.join().is_ok(), "{beginning:?} falls over");
    }
}

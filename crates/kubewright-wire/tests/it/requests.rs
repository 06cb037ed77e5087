//! Arbitrary request bodies, tokens and JSON patches: each is applied or is an error.

use kubewright_fuzz_targets as fuzz;
use kubewright_wire::continue_token::ContinueToken;
use kubewright_wire::patch::json_patch;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::{ProptestConfig, Strategy, any, proptest};
use proptest::sample::{Index, select};
use proptest::{prop_assert, prop_assert_eq};
use serde_json::{Value, json};

const JSON: &[&str] = &[
    "{", "}", "[", "]", ",", ":", "\"a\"", "\"a\":", "\"b\":", "1", "-", "1e999", "0.5", "true",
    "null", "\"", "\\", "\\u12", "\\ud800", " ", "\n", "\u{e9}", "01",
];
const PATHS: &[&str] = &[
    "",
    "/",
    "/a",
    "/a/b",
    "/list",
    "/list/0",
    "/list/-",
    "/list/9",
    "/list/01",
    "/a~1b",
    "/~2",
    "/list/-1",
    "a",
    "/list/99999999999999999999",
];
const OPERATIONS: &[&str] = &["add", "remove", "replace", "move", "copy", "test", "none"];

/// An operation of a JSON patch, valid or invalid.
fn operation() -> impl Strategy<Value = Value> {
    (
        select(OPERATIONS),
        select(PATHS),
        select(PATHS),
        any::<i8>(),
    )
        .prop_map(
            |(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}),
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    /// The JSON library is the reference.
    #[test]
    fn body_is_parsed_or_is_an_error(words in vec(select(JSON), 0..24)) {
        fuzz::json(words.concat().as_bytes());
    }

    #[test]
    fn random_bytes_are_an_error(bytes in vec(any::<u8>(), 0..64)) {
        fuzz::json(&bytes);
        fuzz::continue_token(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        prop_assert!(ContinueToken::decode(&text).is_err());
    }

    #[test]
    fn token_survives_a_round_trip_unless_it_is_changed(
        revision in of(1..=u64::MAX / 2),
        parts in vec("[a-z0-9][a-z0-9.-]{0,5}", 0..4),
        at in any::<Index>(),
        other in select(vec!['A', '~', '=']),
    ) {
        let token = ContinueToken { revision, start: parts.join("/") };
        let text = token.encode();
        let mut changed: Vec<char> = text.chars().collect();
        let index = at.index(changed.len());
        let is_same = changed[index] == other;
        changed[index] = other;
        let decoded = ContinueToken::decode(&changed.into_iter().collect::<String>());
        // Surplus bits at the end are ignored.
        prop_assert!(is_same || index + 1 == text.len() || decoded != Ok(token.clone()));
        prop_assert_eq!(ContinueToken::decode(&text), Ok(token));
    }

    #[test]
    fn operations_are_applied_or_are_errors(operations in vec(operation(), 0..12)) {
        let mut document = json!({"a": {"b": 1}, "list": [1, 2, 3]});
        fuzz::json_patch(json!([document, operations]).to_string().as_bytes());
        for operation in operations {
            let before = document.clone();
            match json_patch(&mut document, &json!([operation])) {
                Ok(()) => {
                    prop_assert!(has_effect(&operation, &before, &document), "{}", operation);
                }
                Err(_) => document = before,
            }
        }
    }
}

/// Whether an operation had the effect that RFC 6902 defines.
fn has_effect(operation: &Value, before: &Value, after: &Value) -> bool {
    let path = operation["path"].as_str().unwrap_or_default();
    let from = operation["from"].as_str().unwrap_or_default();
    let value = Some(&operation["value"]);
    match operation["op"].as_str().unwrap_or_default() {
        "add" | "replace" => at(after, path) == value,
        "copy" | "move" => at(before, from).is_some() && at(after, path) == at(before, from),
        "test" => before == after && at(before, path) == value,
        "remove" => {
            let Some(removed) = at(before, path) else {
                return false;
            };
            let back = json!([{"op": "add", "path": path, "value": removed}]);
            let mut restored = after.clone();
            json_patch(&mut restored, &back).is_ok() && restored == *before
        }
        _ => false,
    }
}

/// The value at a path: `-` is the last item of a list, and an index may begin with a zero.
fn at<'v>(document: &'v Value, path: &str) -> Option<&'v Value> {
    let list = path
        .strip_suffix("/-")
        .and_then(|list| document.pointer(list));
    match list.and_then(Value::as_array) {
        Some(items) => items.last(),
        None => document
            .pointer(path)
            .or_else(|| document.pointer(&path.replace("/01", "/1"))),
    }
}

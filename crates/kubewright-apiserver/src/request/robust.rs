//! Whatever a client sends: it is refused or carried out.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::{ProptestConfig, Strategy, any, proptest};
use proptest::sample::{Index, select};
use proptest::{prop_assert, prop_assert_eq};
use serde_json::{Value, json};

use super::continue_token::ContinueToken;
use super::json_patch::json_patch;
use super::promises;

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

/// An operation of a JSON patch, right or wrong.
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

    /// As the JSON library reads it.
    #[test]
    fn a_body_reads_or_is_refused(words in vec(select(JSON), 0..24)) {
        promises::json(words.concat().as_bytes());
    }

    #[test]
    fn noise_is_refused(bytes in vec(any::<u8>(), 0..64)) {
        promises::json(&bytes);
        promises::continue_token(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        prop_assert!(ContinueToken::decode(&text).is_err());
    }

    #[test]
    fn a_token_comes_back_as_it_was_written_unless_it_was_touched(
        revision in of(1..=u64::MAX / 2),
        parts in vec("[a-z0-9][a-z0-9.-]{0,5}", 0..4),
        at in any::<Index>(),
        other in select(vec!['A', '~', '=']),
    ) {
        let token = ContinueToken { revision, start: parts.join("/") };
        let text = token.encode();
        let mut touched: Vec<char> = text.chars().collect();
        let place = at.index(touched.len());
        let is_same = touched[place] == other;
        touched[place] = other;
        let touched = ContinueToken::decode(&touched.into_iter().collect::<String>());
        // The bits that are left over at the end say nothing.
        prop_assert!(is_same || place + 1 == text.len() || touched != Ok(token.clone()));
        prop_assert_eq!(ContinueToken::decode(&text), Ok(token));
    }

    #[test]
    fn operations_in_any_order_are_carried_out_or_refused(operations in vec(operation(), 0..12)) {
        let mut document = json!({"a": {"b": 1}, "list": [1, 2, 3]});
        promises::json_patch_promise(json!([document, operations]).to_string().as_bytes());
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

/// Whether a document is what RFC 6902 says that an operation leaves of it.
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

/// What stands at a path: `-` is the last of a list, and an index may begin with a zero.
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

//! Arbitrary and very long inputs: no panic, and no more than linear time.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use kubewright_core::{FieldSelector, LabelSelector};
use kubewright_fuzz_targets as fuzz;
use kubewright_wire::fields::FieldSet;
use kubewright_wire::json_path::{FieldPath, JsonPath};
use kubewright_wire::protobuf::{Layouts, from_protobuf};
use kubewright_wire::route::{Query, percent_decode};
use kubewright_wire::scan::{Bookmark, Frame, FrameKind, ListScanner, ScanError};
use kubewright_wire::yaml;
use proptest::collection::{btree_map, vec};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;
use proptest::{prop_assert, prop_assert_eq};
use serde_json::{Map, Value, json};

/// Linear work ends long before this, also on a busy machine and without optimization; quadratic
/// work does not.
const LINEAR_TIME_LIMIT: Duration = Duration::from_secs(20);
/// The length of long inputs.
const LONG: usize = 200_000;

fn assert_linear_time(what: &str, work: impl FnOnce() + Send + 'static) {
    let (done, finished) = mpsc::sync_channel(1);
    let worker = thread::spawn(move || {
        work();
        // After a timeout the receiver is gone.
        done.send(()).ok();
    });
    let ended = finished.recv_timeout(LINEAR_TIME_LIMIT);
    let is_late = ended == Err(mpsc::RecvTimeoutError::Timeout);
    assert!(!is_late, "{what} takes more than {LINEAR_TIME_LIMIT:?}");
    assert!(worker.join().is_ok(), "{what} panics");
}

/// Texts of the tokens of a grammar, which reach more of a parser than random bytes.
fn words(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    vec(select(words), 0..40).prop_map(|words| words.concat())
}

fn yaml_text() -> impl Strategy<Value = String> {
    words(&[
        "a",
        "b: ",
        "- ",
        "? ",
        "\n",
        "\n  ",
        "\n    ",
        "{",
        "}",
        "[",
        "]",
        ", ",
        ": ",
        "\"",
        "'",
        "|\n",
        ">-\n",
        "&x ",
        "*x",
        "!!str ",
        "!t ",
        "#c\n",
        "---\n",
        "...\n",
        "%TAG ! x\n",
        "~",
        "0x1F",
        "1e400",
        "-.inf",
        "<<: ",
        "\\u12",
        "\t",
        "é",
        "\u{feff}",
        "\0",
    ])
}

fn selector_text() -> impl Strategy<Value = String> {
    words(&[
        "a", "b.c/d", " in ", " notin ", "(", ")", ",", "=", "==", "!=", "!", ">", "<", "5", " ",
        "\\", "\\,", "\\=", "é", "in", "",
    ])
}

fn json_path_text() -> impl Strategy<Value = String> {
    words(&[
        ".",
        "..",
        "*",
        "[",
        "]",
        "[*]",
        "[0]",
        "[-1]",
        "[1:2]",
        "[",
        "'",
        "','",
        "\"",
        "\\",
        "?(",
        "[?(@",
        ")]",
        "==",
        "!=",
        "<",
        "1",
        "-",
        ":",
        "@",
        "$",
        " ",
        ".spec",
        ".containers",
        ".name",
        "['name']",
        "a",
        "é",
        "true",
    ])
}

fn fields_value() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just(".".to_owned()),
        "f:[a-c]{0,2}",
        "i:-?[0-9]{0,3}",
        "v:(1|\"a\"|[{]\"b\":1[}]|[{])",
        "k:([{]\"a\":1[}]|[{][}]|1|\"|)",
        "[a-z:.]{0,3}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        Just(Value::Object(Map::new())),
        any::<i8>().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 40, 4, move |below| {
        btree_map(key.clone(), below, 0..4)
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
    })
}

const MEMBERS: &[&str] = &[
    "metadata",
    "labels",
    "finalizers",
    "spec",
    "template",
    "containers",
    "name",
    "ports",
    "containerPort",
    "env",
    "$patch",
    "$retainKeys",
    "$setElementOrder/containers",
    "$deleteFromPrimitiveList/finalizers",
    "$setElementOrder/",
    "strategy",
    "x",
];
const TEXTS: &[&str] = &["a", "b", "delete", "replace", "merge", ""];

/// A value that may be a patch of a Deployment.
fn patch_value() -> impl Strategy<Value = Value> {
    let key = select(MEMBERS);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        select(TEXTS).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 4, move |below| {
        prop_oneof![
            vec(below.clone(), 0..4).prop_map(Value::from),
            btree_map(key.clone(), below, 0..4).prop_map(|members| {
                let entries = members
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value));
                Value::Object(entries.collect())
            }),
        ]
    })
}

/// The items and the end of a list in these chunks.
fn scanned(chunks: &[&[u8]], limit: usize) -> (Vec<String>, String) {
    let mut items = Vec::new();
    let mut scanner = ListScanner::new(limit);
    let read = chunks.iter().try_for_each(|chunk| {
        scanner.push(chunk, |item| {
            items.push(format!("{item:?}"));
            Ok::<(), ScanError>(())
        })
    });
    let end = match read {
        Ok(()) => format!("{:?}", scanner.finish()),
        Err(error) => error.to_string(),
    };
    (items, end)
}

/// The beginning of a frame's line, before its object.
const FRAMED: &str = r#"{"type":"ADDED","object":"#;

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn yaml_is_an_error_or_survives_a_round_trip(text in yaml_text()) {
        fuzz::yaml(text.as_bytes());
    }

    #[test]
    fn random_bytes_do_not_panic_as_yaml(bytes in vec(any::<u8>(), 0..200)) {
        fuzz::yaml(&bytes);
    }

    #[test]
    fn valid_selector_survives_a_round_trip(text in selector_text()) {
        fuzz::selectors(text.as_bytes());
    }

    #[test]
    fn valid_field_set_survives_a_round_trip(value in fields_value()) {
        if let Ok(set) = FieldSet::from_value(&value) {
            let written = set.to_value();
            prop_assert_eq!(FieldSet::from_value(&written).expect("own output"), set);
        }
    }

    #[test]
    fn json_path_is_evaluated_or_is_an_error(text in json_path_text(), value in patch_value()) {
        if let Ok(path) = JsonPath::parse(&text) {
            let first = path.first(&value);
            prop_assert_eq!(first, path.evaluate(&value).ok().and_then(|found| found.first().copied()));
            if let Some(names) = path.field_names() {
                let found = names.iter().try_fold(&value, |at, name| at.get(name));
                prop_assert_eq!(first, found);
            }
        }
        let names = FieldPath::new(&text).take_while(Result::is_ok).count();
        prop_assert!(names <= text.len());
    }

    #[test]
    fn strategic_patch_is_applied_or_is_an_error(base in patch_value(), patch in patch_value()) {
        fuzz::strategic(json!([base, patch]).to_string().as_bytes());
    }

    #[test]
    fn merge_patch_is_idempotent(base in patch_value(), patch in patch_value()) {
        fuzz::merge(json!([base, patch]).to_string().as_bytes());
    }

    #[test]
    fn list_does_not_depend_on_the_chunks(
        text in words(&[
            "{", "}", "[", "]", "\"items\":", "\"metadata\":", "\"resourceVersion\":", "\"1\"",
            "{\"a\":1}", "{\"b\":[1,{\"c\":\"}\"}]}", ",", " ", "\\", "\"", "null", "\u{e9}",
        ]),
        at in any::<proptest::sample::Index>(),
    ) {
        let bytes = text.as_bytes();
        let (head, tail) = bytes.split_at(at.index(bytes.len() + 1));
        prop_assert_eq!(scanned(&[head, tail], 4096), scanned(&[bytes], 4096));
    }

    /// The JSON library is the reference; of a truncated line the object is truncated.
    #[test]
    fn frame_contains_the_bytes_of_its_object(
        object in words(&[
            "{", "}", "[", "]", ",", "\"a\":", "{\"a\":1}", "1", "\"}\"", "null", "\"", "\\", " ",
            "\u{e9}",
        ]),
        at in any::<proptest::sample::Index>(),
    ) {
        let line = format!("{FRAMED}{object}}}");
        let (frame, whole) = (Frame::parse(line.as_bytes()), serde_json::from_str::<Value>(&line));
        prop_assert_eq!(frame.is_ok(), whole.is_ok(), "{}", line);
        if let (Ok(frame), Ok(whole)) = (frame, whole) {
            let held: Value = serde_json::from_slice(frame.object).expect("the object is JSON");
            prop_assert_eq!(&held, &whole["object"]);
            prop_assert_eq!(frame.kind, FrameKind::Added);
        }
        let (head, _) = line.as_bytes().split_at(at.index(line.len() + 1));
        let beginning = Frame::parse_beginning(head).map(|frame| (frame.kind, frame.object));
        let begun = head.strip_prefix(FRAMED.as_bytes());
        prop_assert_eq!(beginning, begun.map(|object| (FrameKind::Added, object)));
    }

    #[test]
    fn random_bytes_do_not_panic_in_other_parsers(bytes in vec(any::<u8>(), 0..100)) {
        let framed = [FRAMED.as_bytes(), &bytes].concat();
        prop_assert!(Frame::parse(&bytes).is_err());
        let beginning = Frame::parse_beginning(&framed).map(|frame| frame.object);
        prop_assert_eq!(beginning, Some(bytes.as_slice()));
        for input in [&bytes, &framed] {
            prop_assert!(Bookmark::parse(input).is_err());
        }
        let message = [b"k8s\0".as_slice(), &bytes].concat();
        if let Ok(value) = from_protobuf(&message, Layouts::builtin()) {
            prop_assert!(value.is_object());
        }
        let text = String::from_utf8_lossy(&bytes);
        prop_assert!(percent_decode(&text).len() <= 3 * text.len());
        prop_assert!(Query::parse(&text).iter().count() <= text.len() + 1);
    }
}

#[test]
fn long_yaml_is_read_in_linear_time() {
    let many = |line: &dyn Fn(usize) -> String| (0..LONG / 10).map(line).collect::<String>();
    let texts = [
        "[".repeat(LONG),
        "- ".repeat(LONG / 2),
        "{a: ".repeat(LONG / 4),
        "? ".repeat(LONG / 2),
        format!("a: \"{}", "\\n".repeat(LONG / 2)),
        format!("a: {}", "'".repeat(LONG)),
        "\n".repeat(LONG),
        format!("a: |\n{}", " x\n".repeat(LONG / 3)),
        many(&|number: usize| format!("k{number}: v\n")),
        many(&|number: usize| format!("- &a{number} x\n")),
        format!("- &a x\n{}", "- *a\n".repeat(LONG / 5)),
        "--- a\n".repeat(LONG / 6),
        "a: b: ".repeat(LONG / 6),
    ];
    for text in texts {
        let beginning: String = text.chars().take(12).collect();
        assert_linear_time(&format!("YAML of {beginning:?}"), move || {
            // Most of them are errors, which must not take longer either.
            let count = yaml::documents(&text).map_or(0, |documents| documents.len());
            assert!(count <= text.len());
        });
    }
}

#[test]
fn nested_aliases_are_an_error_before_they_are_expanded() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let below = format!("*a{}, ", level - 1).repeat(9);
        text.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            below.trim_end_matches(", ")
        ));
    }
    assert_linear_time("YAML of aliases", move || {
        assert!(yaml::from_str(&text).is_err());
    });
}

#[test]
fn long_selectors_and_field_sets_are_read_in_linear_time() {
    let texts = [
        format!("a in ({})", "x,".repeat(LONG / 2)),
        "!".repeat(LONG),
        "a=b,".repeat(LONG / 4),
        "\\".repeat(LONG),
        "(".repeat(LONG),
        " ".repeat(LONG),
        "a!=".repeat(LONG / 3),
    ];
    for text in texts {
        let beginning: String = text.chars().take(8).collect();
        assert_linear_time(&format!("selectors of {beginning:?}"), move || {
            let labels = text
                .parse::<LabelSelector>()
                .map_or(0, |selector| selector.to_string().len());
            let fields = text
                .parse::<FieldSelector>()
                .map_or(0, |selector| selector.to_string().len());
            assert!(labels.max(fields) <= 2 * text.len());
        });
    }
    assert_linear_time("a wide set of fields", || {
        let names = (0..LONG / 10).map(|number| (format!("f:{number}"), Value::Object(Map::new())));
        let value = Value::Object(names.collect());
        let set = FieldSet::from_value(&value).expect("a set");
        assert_eq!(set.len(), LONG / 10);
        assert_eq!(set.to_value(), value);
    });
}

#[test]
fn long_json_paths_are_read_in_linear_time() {
    let texts = [
        ".a".repeat(LONG / 2),
        "[0]".repeat(LONG / 3),
        "[?(@".repeat(LONG / 4),
        format!("[{}]", "0,".repeat(LONG / 2)),
        format!("['{}']", ".a".repeat(LONG / 2)),
        format!("[?(@.a=='{}')]", "\\\\".repeat(LONG / 2)),
        "..a".repeat(LONG / 3),
        "\\".repeat(LONG),
    ];
    for text in texts {
        let beginning: String = text.chars().take(8).collect();
        assert_linear_time(&format!("a JSONPath of {beginning:?}"), move || {
            let steps = JsonPath::parse(&text).map_or(0, |path| path.steps().len());
            let names = FieldPath::new(&text).count();
            assert!(steps.max(names) <= text.len());
        });
    }
}

#[test]
fn long_lists_in_small_chunks_are_read_in_linear_time() {
    assert_linear_time("a list byte by byte", || {
        let sent = "{\"a\":1},".repeat(LONG / 8);
        let text = format!("{{\"items\":[{}]}}", sent.trim_end_matches(','));
        let chunks: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        let (items, _) = scanned(&chunks, 64);
        assert_eq!(items.len(), LONG / 8);
    });
    assert_linear_time("an item that never ends", || {
        let text = format!("{{\"items\":[{}", "[".repeat(LONG));
        let chunks: Vec<&[u8]> = text.as_bytes().chunks(7).collect();
        let (_, end) = scanned(&chunks, 64);
        assert!(!end.is_empty());
    });
}

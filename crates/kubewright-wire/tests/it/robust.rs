//! Whatever comes in: nothing falls over, and nothing takes more time than its length.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use kubewright_core::{FieldSelector, LabelSelector};
use kubewright_wire::fields::FieldSet;
use kubewright_wire::fuzz;
use kubewright_wire::protobuf::{Layouts, from_protobuf};
use kubewright_wire::route::{Query, percent_decode};
use kubewright_wire::scan::{Bookmark, Frame, FrameKind, ListScanner, ScanError};
use kubewright_wire::yaml;
use proptest::collection::{btree_map, vec};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;
use proptest::{prop_assert, prop_assert_eq};
use serde_json::{Map, Value, json};

/// What is linear ends long before this, also on a busy machine without optimisation; what is
/// quadratic does not.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long the long inputs are.
const LONG: usize = 200_000;

fn within_patience(what: &str, work: impl FnOnce() + Send + 'static) {
    let (done, finished) = mpsc::sync_channel(1);
    let worker = thread::spawn(move || {
        work();
        // Nobody listens any more when it took too long.
        done.send(()).unwrap_or_default();
    });
    let ended = finished.recv_timeout(PATIENCE);
    let is_late = ended == Err(mpsc::RecvTimeoutError::Timeout);
    assert!(!is_late, "{what} takes more than {PATIENCE:?}");
    assert!(worker.join().is_ok(), "{what} falls over");
}

/// Texts made of the words of a grammar, which get further into a reader than noise does.
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

/// What could be a patch of a Deployment, or could not.
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
                let members = members
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value));
                Value::Object(members.collect())
            }),
        ]
    })
}

/// What a scanner says of a list that comes in these pieces, of whose items it reads so much.
fn scanned(pieces: &[&[u8]], limit: usize) -> (Vec<String>, String) {
    let mut items = Vec::new();
    let mut scanner = ListScanner::new(limit);
    let read = pieces.iter().try_for_each(|piece| {
        scanner.push(piece, |item| {
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

/// How the line of a frame begins, up to its object.
const FRAMED: &str = r#"{"type":"ADDED","object":"#;

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn yaml_reads_or_is_refused_and_what_is_read_is_written_so_that_it_reads(text in yaml_text()) {
        fuzz::yaml(text.as_bytes());
    }

    #[test]
    fn noise_is_no_yaml_and_no_harm(bytes in vec(any::<u8>(), 0..200)) {
        fuzz::yaml(&bytes);
    }

    #[test]
    fn a_selector_that_reads_reads_again_as_it_is_shown(text in selector_text()) {
        fuzz::selectors(text.as_bytes());
    }

    #[test]
    fn a_set_of_fields_reads_or_is_refused_and_is_stable(value in fields_value()) {
        if let Ok(set) = FieldSet::from_value(&value) {
            let written = set.to_value();
            prop_assert_eq!(FieldSet::from_value(&written).expect("own output"), set);
        }
    }

    #[test]
    fn a_strategic_patch_is_carried_out_or_refused(base in patch_value(), patch in patch_value()) {
        fuzz::strategic(json!([base, patch]).to_string().as_bytes());
    }

    #[test]
    fn a_merge_patch_does_the_same_twice(base in patch_value(), patch in patch_value()) {
        fuzz::merge(json!([base, patch]).to_string().as_bytes());
    }

    #[test]
    fn a_list_is_the_same_in_any_pieces(
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

    /// As the JSON library reads the line, and the object of one that is cut as far as it goes.
    #[test]
    fn a_frame_holds_its_object_as_it_was_sent(
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
    fn frames_bookmarks_messages_and_queries_read_or_are_refused(bytes in vec(any::<u8>(), 0..100)) {
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
fn long_texts_of_yaml_take_no_longer_than_they_are() {
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
        within_patience(&format!("YAML of {beginning:?}"), move || {
            // Most of them are refused; what counts is that this is soon.
            let read = yaml::documents(&text).map_or(0, |documents| documents.len());
            assert!(read <= text.len());
        });
    }
}

#[test]
fn aliases_of_aliases_are_refused_before_they_blow_up() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let below = format!("*a{}, ", level - 1).repeat(9);
        text.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            below.trim_end_matches(", ")
        ));
    }
    within_patience("YAML of aliases", move || {
        assert!(yaml::from_str(&text).is_err());
    });
}

#[test]
fn long_selectors_and_sets_take_no_longer_than_they_are() {
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
        within_patience(&format!("selectors of {beginning:?}"), move || {
            let labels = text.parse::<LabelSelector>();
            let labels = labels.map_or(0, |selector| selector.to_string().len());
            let fields = text.parse::<FieldSelector>();
            let fields = fields.map_or(0, |selector| selector.to_string().len());
            assert!(labels.max(fields) <= 2 * text.len());
        });
    }
    within_patience("a wide set of fields", || {
        let names = (0..LONG / 10).map(|number| (format!("f:{number}"), Value::Object(Map::new())));
        let value = Value::Object(names.collect());
        let set = FieldSet::from_value(&value).expect("a set");
        assert_eq!(set.len(), LONG / 10);
        assert_eq!(set.to_value(), value);
    });
}

#[test]
fn long_lists_in_small_pieces_take_no_longer_than_they_are() {
    within_patience("a list byte by byte", || {
        let items = "{\"a\":1},".repeat(LONG / 8);
        let text = format!("{{\"items\":[{}]}}", items.trim_end_matches(','));
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        let (items, _) = scanned(&pieces, 64);
        assert_eq!(items.len(), LONG / 8);
    });
    within_patience("an item that never ends", || {
        let text = format!("{{\"items\":[{}", "[".repeat(LONG));
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(7).collect();
        let (_, end) = scanned(&pieces, 64);
        assert!(!end.is_empty());
    });
}

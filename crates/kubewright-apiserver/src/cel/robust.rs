//! Whatever stands where an expression is expected: it is refused or carried out, soon.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::sample::select;

use super::cel;
use super::promises::try_out;

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

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn words_of_the_language_in_any_order_do_no_harm(words in vec(select(WORDS), 0..16)) {
        cel(words.concat().as_bytes());
    }

    #[test]
    fn noise_does_no_harm(bytes in vec(any::<u8>(), 0..64)) {
        cel(&bytes);
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

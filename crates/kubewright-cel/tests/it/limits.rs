//! Arbitrary and expensive input: it fails to compile, or its evaluation ends within the budget.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use kubewright_fuzz_targets::{cel, evaluate_cel};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::sample::select;

/// How long one expression may take, on a machine that runs other tests too.
const TIMEOUT: Duration = Duration::from_secs(20);
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
    "%.65536f",
    "%.4294967296e",
    "9223372036854775807",
    ".findAll('x')",
    ".flatten()",
    ".distinct()",
    "\n",
    "é",
    "\\",
    "\"",
];

/// Expressions whose cost exceeds by far the size of their source.
const EXPENSIVE: &[&str] = &[
    // Precisions beyond those that cel-go formats.
    "'%.65536f %.65536e %.4294967296f'.format([1.5, 1.5, 1.5])",
    // Results as large as the product of the arguments.
    "'TEXT'.replace('', 'TEXT').replace('', 'TEXT').replace('', 'TEXT')",
    "'TEXT'.replace('x', 'TEXT').replace('x', 'TEXT').replace('x', 'TEXT') == ''",
    "lists.range(1000).map(x, 'TEXT').join('TEXT').split('').size() > 0",
    "lists.range(300000).map(x, 'TEXT').join('TEXT') == ''",
    "lists.range(900000).map(x, x).size() > 0 && lists.range(9223372036854775807).size() > 0",
    "[lists.range(1000)].map(l, l.map(x, l.map(y, l))).flatten().flatten().flatten().size() > 0",
    "'%s'.format([[lists.range(1000)].map(l, l.map(x, l.map(y, l)))]) == ''",
    "[lists.range(1000)].map(l, l.map(x, l.map(y, l))) == [lists.range(1000)].map(l, l.map(x, l.map(y, l)))",
    // Work that grows with the square of the size.
    "[lists.range(200000)].all(l, l.all(x, l.exists(y, true)))",
    "sets.contains(lists.range(50000).map(x, [x]), lists.range(50000).map(x, [x]))",
    "sets.intersects(lists.range(50000).map(x, [x]), lists.range(50000).map(x, [-x - 1]))",
    "lists.range(100000).map(x, [x]).distinct().size() > 0",
    "lists.range(100000).map(x, 'TEXT').sort().size() > 0",
    "lists.range(100000).sortBy(x, 'TEXT').size() > 0",
    "lists.range(100000).map(x, 'TEXT').max() == ''",
    "lists.range(100000).map(x, 'TEXT').indexOf('y') == 0",
    "'y' + 'TEXT' in lists.range(100000).map(x, 'TEXT')",
    "[lists.range(10000).map(x, 'TEXT').join()].all(t, t.indexOf(t.substring(1) + 'y') == 0)",
    "[lists.range(10000).map(x, 'TEXT').join()].all(t, t.lastIndexOf('y' + t.substring(1)) == 0)",
    "[lists.range(3000).map(x, 'TEXT').join()].all(t, t.findAll('x').size() > 0)",
    "[lists.range(3000).map(x, 'TEXT').join()].all(t, t.matches('(x+x+)+y'))",
    "lists.range(1000).transformMapEntry(i, v, {v: lists.range(1000)}).size() > 0",
];

#[test]
fn expensive_expressions_end_within_their_budget() {
    for source in EXPENSIVE {
        let source = source.replace("TEXT", &"x".repeat(1500));
        let (done, finished) = mpsc::sync_channel(1);
        let beginning: String = source.chars().filter(|c| *c != 'x').take(90).collect();
        let worker = thread::spawn(move || {
            let length = evaluate_cel(&source).map(|evaluated| evaluated.result.len());
            if done.send(length).is_err() {
                // The test ended with the timeout and dropped the receiver.
            }
        });
        let ended = finished.recv_timeout(TIMEOUT);
        assert!(
            worker.is_finished() || ended.is_ok(),
            "{beginning} takes too long"
        );
        assert!(worker.join().is_ok(), "{beginning} panics");
        // The result is small or an error.
        assert!(
            ended.is_ok_and(|length| length.is_some_and(|length| length < 200_000)),
            "{beginning}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tokens_in_any_order_do_not_panic(words in vec(select(WORDS), 0..16)) {
        cel(words.concat().as_bytes());
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..64)) {
        cel(&bytes);
    }
}

#[test]
fn long_expressions_are_parsed_in_time() {
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
            let compiled = evaluate_cel(&source).is_some();
            if done.send(compiled).is_err() {
                // The test ended with the timeout and dropped the receiver.
            }
        });
        let ended = finished.recv_timeout(TIMEOUT);
        let is_late = ended == Err(mpsc::RecvTimeoutError::Timeout);
        assert!(!is_late, "{beginning:?} takes more than {TIMEOUT:?}");
        assert!(worker.join().is_ok(), "{beginning:?} panics");
    }
}

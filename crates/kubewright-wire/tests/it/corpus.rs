//! The inputs of `tests/corpus` and `tests/apply`, and seeded changes of them, against what must
//! hold of any.

use kubewright_wire::fuzz::{self, Mutations, corpus};

type Promise = fn(&[u8]);

/// Each with its folder and how many changes are tried.
const TARGETS: &[(&str, Promise, usize)] = &[
    ("apply", fuzz::apply, 500),
    ("corpus/merge", fuzz::merge, 2000),
    ("corpus/selectors", fuzz::selectors, 2000),
    ("corpus/strategic", fuzz::strategic, 2000),
    ("corpus/yaml", fuzz::yaml, 2000),
];

#[test]
fn the_corpus_and_its_changes_keep_the_promises() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    for (name, target, changes) in TARGETS {
        let inputs = corpus(format!("{folder}/{name}")).expect("a folder of inputs");
        let changes = Mutations::new(&inputs, 1).take(*changes);
        for input in inputs.iter().cloned().chain(changes) {
            let kept = std::panic::catch_unwind(|| target(&input));
            assert!(kept.is_ok(), "{name}: {}", String::from_utf8_lossy(&input));
        }
    }
}

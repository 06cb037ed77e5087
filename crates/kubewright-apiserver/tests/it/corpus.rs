//! The inputs of `tests/corpus`, and seeded changes of them, against what must hold of any.

use kubewright_apiserver::fuzz;
use kubewright_wire::fuzz::{Mutations, corpus};

type Promise = fn(&[u8]);

const TARGETS: &[(&str, Promise)] = &[
    ("cel", fuzz::cel),
    ("continue_token", fuzz::continue_token),
    ("json", fuzz::json),
    ("json_patch", fuzz::json_patch),
];
const CHANGES: usize = 2000;

#[test]
fn the_corpus_and_its_changes_keep_the_promises() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    for (name, target) in TARGETS {
        let inputs = corpus(format!("{folder}/{name}")).expect("a folder of inputs");
        let changes = Mutations::new(&inputs, 1).take(CHANGES);
        for input in inputs.iter().cloned().chain(changes) {
            let kept = std::panic::catch_unwind(|| target(&input));
            assert!(
                kept.is_ok(),
                "{name}: {:?}",
                String::from_utf8_lossy(&input)
            );
        }
    }
}

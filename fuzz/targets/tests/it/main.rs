//! Runs every target over its seeds and over seeded changes of them.

use kubewright_fuzz_targets::{self as targets, Mutations, corpus};

/// A target, the folder of its seeds relative to the workspace, and how many changes are tried.
struct Target {
    run: fn(&[u8]),
    seeds: &'static str,
    changes: usize,
}

const TARGETS: &[Target] = &[
    target(targets::apply, "crates/kubewright-wire/tests/apply", 500),
    target(targets::cel, "fuzz/seeds/cel", 2000),
    target(targets::continue_token, "fuzz/seeds/continue_token", 2000),
    target(targets::json, "fuzz/seeds/json", 2000),
    target(targets::json_patch, "fuzz/seeds/json_patch", 2000),
    target(targets::merge, "fuzz/seeds/merge", 2000),
    target(targets::selectors, "fuzz/seeds/selectors", 2000),
    target(targets::strategic, "fuzz/seeds/strategic", 2000),
    target(targets::yaml, "fuzz/seeds/yaml", 2000),
];

const fn target(run: fn(&[u8]), seeds: &'static str, changes: usize) -> Target {
    Target {
        run,
        seeds,
        changes,
    }
}

#[test]
fn targets_hold_for_their_seeds_and_for_changes_of_them() {
    let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    for Target {
        run,
        seeds,
        changes,
    } in TARGETS
    {
        let inputs = corpus(format!("{workspace}/{seeds}")).expect("a folder of inputs");
        let changed = Mutations::new(&inputs, 1).take(*changes);
        for input in inputs.iter().cloned().chain(changed) {
            let result = std::panic::catch_unwind(|| run(&input));
            let text = String::from_utf8_lossy(&input);
            assert!(result.is_ok(), "{seeds}: {text:?}");
        }
    }
}

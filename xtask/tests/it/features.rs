//! What one command has compiled serves the next: a crate with other features is another crate.

use std::collections::{BTreeMap, BTreeSet};

use crate::cargo;

/// The sets of features that each package is built with.
type Features = BTreeMap<String, BTreeSet<String>>;

const PROGRAM: &str = "normal,build";
const TESTS: &str = "normal,build,dev";

fn features(packages: &[&str], edges: &str) -> Features {
    let tree = ["tree", "--prefix", "none", "--no-dedupe"];
    let told = ["--format", "{p}\t{f}", "--edges", edges];
    let printed = cargo(&[&tree, &told, packages].concat());
    let mut features = Features::new();
    for line in String::from_utf8_lossy(&printed).lines() {
        if let Some((package, set)) = line.split_once('\t') {
            let sets = features.entry(package.to_owned()).or_default();
            sets.insert(set.to_owned());
        }
    }
    features
}

/// The packages of one build that another has with other features only.
fn built_anew<'a>(build: &'a Features, before: &Features) -> Vec<&'a str> {
    let build = build.iter().filter(|(package, sets)| {
        let there = before.get(*package);
        there.is_some_and(|there| there.is_disjoint(sets))
    });
    build.map(|(package, _)| package.as_str()).collect()
}

#[test]
fn an_operator_is_built_with_the_features_of_its_tests() {
    for operator in ["mydaemonset", "sidecarset"] {
        let package = ["--package", operator];
        let program = features(&package, PROGRAM);
        assert!(program.len() > 100, "{} packages", program.len());
        let anew = built_anew(&program, &features(&package, TESTS));
        assert!(anew.is_empty(), "{operator} builds anew: {anew:#?}");
    }
}

#[test]
fn the_command_and_the_chores_are_built_with_the_features_of_all_tests() {
    let tests = features(&["--workspace"], TESTS);
    for program in ["kubewright-cli", "xtask"] {
        let build = features(&["--package", program], PROGRAM);
        assert!(build.len() > 100, "{} packages", build.len());
        let anew = built_anew(&build, &tests);
        assert!(anew.is_empty(), "{program} builds anew: {anew:#?}");
    }
}

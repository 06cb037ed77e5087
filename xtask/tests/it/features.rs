//! Features that dependencies are built with. Builds with the same features share their artifacts.

use std::collections::{BTreeMap, BTreeSet};

use crate::cargo;

/// The sets of features of each package in a build.
type Features = BTreeMap<String, BTreeSet<String>>;

const PROGRAM: &str = "normal,build";
const TESTS: &str = "normal,build,dev";

/// Returns the features of all packages in a build.
fn features(packages: &[&str], edges: &str) -> Features {
    let tree = ["tree", "--prefix", "none", "--no-dedupe"];
    let format = ["--format", "{p}\t{f}", "--edges", edges];
    let output = cargo(&[&tree, &format, packages].concat());
    let mut features = Features::new();
    for line in String::from_utf8_lossy(&output).lines() {
        if let Some((package, set)) = line.split_once('\t') {
            let sets = features.entry(package.to_owned()).or_default();
            sets.insert(set.to_owned());
        }
    }
    features
}

/// Returns the packages of a build that an earlier build has with other features only.
fn rebuilt<'a>(build: &'a Features, before: &Features) -> Vec<&'a str> {
    let build = build.iter().filter(|(package, sets)| {
        let earlier = before.get(*package);
        earlier.is_some_and(|earlier| earlier.is_disjoint(sets))
    });
    build.map(|(package, _)| package.as_str()).collect()
}

#[test]
fn operator_has_the_features_of_its_tests() {
    for operator in ["mydaemonset", "sidecarset"] {
        let package = ["--package", operator];
        let program = features(&package, PROGRAM);
        assert!(program.len() > 100, "{} packages", program.len());
        let rebuilt = rebuilt(&program, &features(&package, TESTS));
        assert!(rebuilt.is_empty(), "{operator} rebuilds: {rebuilt:#?}");
    }
}

#[test]
fn command_and_xtask_have_the_features_of_all_tests() {
    let tests = features(&["--workspace"], TESTS);
    for program in ["kubewright-cli", "xtask"] {
        let build = features(&["--package", program], PROGRAM);
        assert!(build.len() > 100, "{} packages", build.len());
        let rebuilt = rebuilt(&build, &tests);
        assert!(rebuilt.is_empty(), "{program} rebuilds: {rebuilt:#?}");
    }
}

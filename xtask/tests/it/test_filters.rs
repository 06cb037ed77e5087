//! Test filters in `docs/promises.toml` and `.ci/run`. A filter without a test would pass silently.

use std::collections::BTreeMap;
use std::path::Path;

use crate::module_graph::sources;
use crate::{packages, root};

/// The tests that a command selects in a package: all, those of the library, or those in `tests`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    All,
    Library,
    Integration,
}

/// A `cargo test` command.
#[derive(Debug, PartialEq, Eq)]
struct TestCommand {
    /// Empty for the whole workspace.
    packages: Vec<String>,
    part: Part,
    filters: Vec<String>,
}

impl TestCommand {
    fn parse(command: &str) -> Option<Self> {
        let (_, arguments) = command.split_once("cargo test")?;
        let mut parsed = Self {
            packages: Vec::new(),
            part: Part::All,
            filters: Vec::new(),
        };
        let mut words = arguments.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "-p" | "--package" => parsed.packages.extend(words.next().map(str::to_owned)),
                "--test" => {
                    words.next();
                    parsed.part = Part::Integration;
                }
                "--lib" => parsed.part = Part::Library,
                "--features" => {
                    words.next();
                }
                "--" => break,
                _ => {}
            }
        }
        let filters = words.filter(|word| !word.starts_with('-'));
        parsed.filters = filters.map(str::to_owned).collect();
        Some(parsed)
    }
}

/// Returns the paths of all functions in the tests of a package.
fn functions(folder: &Path, part: Part) -> Vec<String> {
    let folders: &[&str] = match part {
        Part::All => &["src", "tests/it"],
        Part::Library => &["src"],
        Part::Integration => &["tests/it"],
    };
    let existing = folders.iter().map(|name| folder.join(name));
    let files = existing
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| sources(&folder));
    let paths = files.flat_map(|(module, source)| {
        let names: Vec<String> = source
            .lines()
            .filter_map(|line| line.split_once("fn ")?.1.split(['(', '<']).next())
            .map(|name| [module.join("::").as_str(), name].join("::"))
            .collect();
        names
    });
    paths.collect()
}

/// Returns the folders of the packages of the workspace.
fn folders() -> BTreeMap<String, std::path::PathBuf> {
    let packages = packages();
    let folders = packages.iter().map(|package| {
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        let name = package["name"].as_str().expect("a name").to_owned();
        (name, manifest.parent().expect("a folder").to_owned())
    });
    folders.collect()
}

/// Returns the filters of a command that match no test.
fn unmatched(command: &TestCommand) -> Vec<String> {
    let folders = folders();
    let mut found = Vec::new();
    for (name, folder) in &folders {
        if command.packages.is_empty() || command.packages.contains(name) {
            found.extend(functions(folder, command.part));
        }
    }
    let unknown = command
        .packages
        .iter()
        .filter(|name| !folders.contains_key(*name));
    let filters = command.filters.iter().filter(|filter| {
        let is_matched = found.iter().any(|path| path.contains(filter.as_str()));
        !is_matched
    });
    filters.chain(unknown).cloned().collect()
}

#[test]
fn every_filter_of_a_promise_matches_a_test() {
    let text = std::fs::read_to_string(root().join("docs/promises.toml")).expect("the promises");
    let promises: toml::Table = text.parse().expect("the promises are TOML");
    let mut commands = 0;
    let mut missing = Vec::new();
    for promise in promises["promise"].as_array().expect("a list") {
        let command = promise["command"].as_str().expect("a command");
        for part in command.split(['&', '|', ';']) {
            let Some(command) = TestCommand::parse(part) else {
                continue;
            };
            commands += 1;
            let id = promise["id"].as_str().expect("an id");
            let filters = unmatched(&command).into_iter();
            missing.extend(filters.map(|filter| format!("{id}: {filter}")));
        }
    }
    assert!(commands > 30, "only {commands} commands were parsed");
    assert!(missing.is_empty(), "no test for {missing:#?}");
}

#[test]
fn every_test_that_ci_skips_exists() {
    let script = std::fs::read_to_string(root().join(".ci/run")).expect("the script");
    let words: Vec<&str> = script.split_whitespace().collect();
    let skipped = words.windows(2).filter(|pair| pair[0] == "--skip");
    let command = TestCommand {
        packages: Vec::new(),
        part: Part::All,
        filters: skipped.map(|pair| pair[1].to_owned()).collect(),
    };
    assert!(command.filters.len() > 5, "{:?}", command.filters);
    let missing = unmatched(&command);
    assert!(missing.is_empty(), "no test for {missing:#?}");
}

#[test]
fn packages_and_filters_of_a_command_are_parsed() {
    let command =
        "KUBEWRIGHT_REQUIRE=real cargo test -p a --features b --test it -- c:: --nocapture d";
    let expected = TestCommand {
        packages: vec!["a".to_owned()],
        part: Part::Integration,
        filters: vec!["c::".to_owned(), "d".to_owned()],
    };
    assert_eq!(TestCommand::parse(command), Some(expected));
    assert_eq!(TestCommand::parse("cargo run -p a"), None);
}

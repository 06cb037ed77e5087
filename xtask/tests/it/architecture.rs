//! Dependencies between crates, and their table in `docs/ARCHITECTURE.md`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::{cargo, metadata, packages, root};

/// Returns the rows of the crate table of the page: rank and description by crate.
fn table() -> BTreeMap<String, (u32, String)> {
    let page = std::fs::read_to_string(root().join("docs/ARCHITECTURE.md")).expect("the page");
    page.lines()
        .filter_map(|line| {
            let mut cells = line
                .strip_prefix("| `")?
                .strip_suffix(" |")?
                .splitn(3, " | ");
            let name = cells.next()?.strip_suffix('`')?.to_owned();
            let rank = cells.next()?.parse().ok()?;
            Some((name, (rank, cells.next()?.to_owned())))
        })
        .collect()
}

#[test]
fn crate_table_lists_every_crate_with_its_description() {
    let table = table();
    let described: BTreeMap<_, _> = packages()
        .iter()
        .filter(|package| {
            let manifest = package["manifest_path"].as_str().expect("a path");
            Path::new(manifest).starts_with(root().join("crates"))
        })
        .map(|package| {
            let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
            (text("name"), text("description"))
        })
        .collect();
    let listed: BTreeMap<_, _> = table
        .iter()
        .map(|(name, (_, sentence))| (name.clone(), sentence.clone()))
        .collect();
    assert_eq!(
        listed, described,
        "docs/ARCHITECTURE.md and the crates' descriptions differ"
    );
}

#[test]
fn crate_documentation_starts_with_its_description() {
    for package in packages() {
        let name = package["name"].as_str().expect("a name");
        let description = package["description"].as_str().unwrap_or_default();
        let folder = Path::new(package["manifest_path"].as_str().expect("a path"))
            .parent()
            .expect("a manifest is in a folder");
        let source = ["src/lib.rs", "src/main.rs"]
            .iter()
            .find_map(|file| std::fs::read_to_string(folder.join(file)).ok())
            .unwrap_or_default();
        let first = source.lines().next().unwrap_or_default();
        assert_eq!(
            first.strip_prefix("//! "),
            Some(description),
            "first line of {name}"
        );
    }
}

/// How many ranks the crates may have.
const RANKS: u32 = 8;

#[test]
fn crates_depend_on_lower_ranks_only() {
    let table = table();
    assert!(
        table.values().all(|(rank, _)| *rank < RANKS),
        "at most {RANKS} ranks: {table:#?}"
    );
    let mut upward = Vec::new();
    for package in packages() {
        let name = package["name"].as_str().expect("a name");
        let Some((rank, _)) = table.get(name) else {
            continue;
        };
        for dependency in package["dependencies"].as_array().expect("a list") {
            let used = dependency["name"].as_str().expect("a name");
            let is_for_tests = dependency["kind"] == "dev";
            if let Some((other, _)) = table.get(used)
                && other >= rank
                && !is_for_tests
            {
                upward.push(format!("{name} (rank {rank}) -> {used} (rank {other})"));
            }
        }
    }
    assert!(
        upward.is_empty(),
        "dependencies on the same or a higher rank: {upward:#?}"
    );
}

/// How many dependencies have more than one version. It may only decrease.
const DUPLICATES: usize = 12;

#[test]
fn number_of_dependencies_with_several_versions_does_not_grow() {
    let metadata = metadata(&[
        "--all-features",
        "--filter-platform",
        "x86_64-unknown-linux-gnu",
    ]);
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("a list") {
        let name = package["name"].as_str().expect("a name");
        versions
            .entry(name)
            .or_default()
            .push(package["version"].as_str().expect("a version"));
    }
    versions.retain(|_, versions| versions.len() > 1);
    assert!(
        versions.len() <= DUPLICATES,
        "{} dependencies have several versions, at most {DUPLICATES}: {versions:#?}",
        versions.len()
    );
}

#[test]
fn operator_and_embedded_server_do_not_depend_on_each_other() {
    let tree = |package: &str| {
        let tree = ["tree", "--edges", "normal", "--prefix", "none"];
        let tree = cargo(&[&tree, ["--package", package].as_slice()].concat());
        String::from_utf8(tree).expect("cargo prints text")
    };
    let holds = |tree: &str, name: &str| {
        tree.lines()
            .any(|line| line.split(' ').next() == Some(name))
    };
    let operator = tree("mydaemonset");
    assert!(
        holds(&operator, "kubewright-runtime"),
        "cargo tree was parsed"
    );
    assert!(
        !holds(&operator, "kubewright-apiserver"),
        "an operator contains no API server"
    );
    let server = tree("kubewright-apiserver");
    assert!(holds(&server, "kubewright-wire"), "cargo tree was parsed");
    for client in ["kube", "k8s-openapi"] {
        assert!(
            !holds(&server, client),
            "the API server depends on {client}"
        );
    }
}

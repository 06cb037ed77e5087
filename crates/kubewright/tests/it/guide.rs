//! The page that maps the names of controller-runtime and client-go to those of Kubewright.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// Returns the folder of all crates.
fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the file of a name in the last column.
fn file(name: &str) -> PathBuf {
    let packages = [
        ("runtime/", "kubewright-runtime"),
        ("mydaemonset/", "../operators/mydaemonset"),
        ("", "kubewright"),
    ];
    let mut found = packages
        .iter()
        .filter_map(|(prefix, package)| Some((package, name.strip_prefix(prefix)?)));
    let (package, name) = found.next().expect("the last prefix is empty");
    crates().join(if name.starts_with("src/") {
        format!("{package}/{name}.rs")
    } else {
        format!("{package}/tests/it/{name}.rs")
    })
}

/// Returns the text of the file and of the examples that it uses.
fn source(name: &str) -> String {
    let path = file(name);
    let source = read_to_string(&path).unwrap_or_default();
    assert!(source.contains("test"), "{}", path.display());
    if !source.contains("example_code::") {
        return source;
    }
    let mut examples = String::new();
    let folder = read_dir(crates().join("kubewright/examples")).expect("the examples");
    for example in folder.map(|entry| entry.expect("an example").path()) {
        let name = example.file_stem().and_then(|name| name.to_str());
        if name.is_some_and(|name| words(&source).any(|word| word == name)) {
            examples += &read_to_string(&example).expect("an example");
        }
    }
    source + &examples
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character| !is_word_character(character))
}

/// Returns the names of the calls in a cell: `kind` and `index` of `kind::<Pod>().index(..)`.
fn calls(cell: &str) -> Vec<&str> {
    let code = cell.split('`').skip(1).step_by(2);
    let heads = code.flat_map(|code| {
        let mut heads: Vec<&str> = code.split('(').collect();
        heads.pop();
        heads
    });
    let names = heads.filter_map(|head| {
        // Without the types that it is called with.
        let head = head.rsplit_once("::<").map_or(head, |(head, _)| head);
        head.rsplit(|character| !is_word_character(character))
            .next()
    });
    names.filter(|name| !name.is_empty()).collect()
}

/// Whether the source calls or defines the function of this name.
fn has_call(source: &str, name: &str) -> bool {
    source.match_indices(name).any(|(at, _)| {
        let before = source.get(..at).unwrap_or_default();
        let after = source.get(at + name.len()..).unwrap_or_default();
        !before.ends_with(is_word_character)
            && ["(", "::<", "<"]
                .iter()
                .any(|start| after.starts_with(start))
    })
}

#[test]
fn calls_are_found_in_cells_and_sources() {
    let cell = "by `kind::<Pod>().index(..)`, (not) `a.b(c::d(), ..)`; `main()` and `X::y`";
    assert_eq!(calls(cell), ["kind", "index", "b", "d", "main"]);
    let source = "cx.get::<Pod>(name); reindex(1)";
    assert!(has_call(source, "get"));
    assert!(!has_call(source, "index"));
    assert!(!has_call(source, "name"));
}

#[test]
fn calls_of_each_row_are_in_the_tests_that_it_names() {
    let page = include_str!("../../../../docs/guide/from-controller-runtime.md");
    let mut count = 0;
    let rows = page.lines().filter(|line| line.starts_with("| "));
    for row in rows.filter(|row| !row.ends_with("| tested in |")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [_, ours, tested] = cells.as_slice() else {
            panic!("three columns: {row}");
        };
        if *tested == "*none*" {
            continue;
        }
        let files: Vec<String> = tested
            .split(", ")
            .map(|name| source(name.trim_matches('`')))
            .collect();
        for name in calls(ours) {
            let is_there = files.iter().any(|source| has_call(source, name));
            assert!(is_there, "{name}(..) is not in {tested}: {row}");
        }
        count += files.len();
    }
    assert!(count >= 80, "{count}");
}

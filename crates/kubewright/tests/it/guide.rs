//! The page that says what takes the place of each name of controller-runtime and client-go.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// The folder of all crates.
fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The file that a name in the last column stands for.
fn file(name: &str) -> PathBuf {
    let packages = [
        ("runtime/", "kubewright-runtime"),
        ("mydaemonset/", "../operators/mydaemonset"),
        ("", "kubewright"),
    ];
    let mut found = packages
        .iter()
        .filter_map(|(prefix, package)| Some((package, name.strip_prefix(prefix)?)));
    let (package, name) = found.next().expect("every name begins with nothing");
    crates().join(match name.starts_with("src/") {
        true => format!("{package}/{name}.rs"),
        false => format!("{package}/tests/it/{name}.rs"),
    })
}

/// What the file says, with the examples that it runs.
fn source(name: &str) -> String {
    let path = file(name);
    let source = read_to_string(&path).unwrap_or_default();
    assert!(source.contains("test"), "{}", path.display());
    if !source.contains("shown::") {
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

fn is_of_a_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character| !is_of_a_name(character))
}

/// The names of what a cell calls, such as `kind` and `index` of `kind::<Pod>().index(..)`.
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
        head.rsplit(|character| !is_of_a_name(character)).next()
    });
    names.filter(|name| !name.is_empty()).collect()
}

/// Whether the function of this name is called or made there.
fn has_call(source: &str, name: &str) -> bool {
    source.match_indices(name).any(|(at, _)| {
        let before = source.get(..at).unwrap_or_default();
        let behind = source.get(at + name.len()..).unwrap_or_default();
        !before.ends_with(is_of_a_name)
            && ["(", "::<", "<"].iter().any(|one| behind.starts_with(one))
    })
}

#[test]
fn calls_are_found_in_the_code_of_a_cell_and_in_a_source() {
    let cell = "by `kind::<Pod>().index(..)`, (not) `a.b(c::d(), ..)`; `main()` and `X::y`";
    assert_eq!(calls(cell), ["kind", "index", "b", "d", "main"]);
    let source = "cx.get::<Pod>(name); reindex(1)";
    assert!(has_call(source, "get"));
    assert!(!has_call(source, "index"));
    assert!(!has_call(source, "name"));
}

#[test]
fn what_is_said_to_be_tested_somewhere_is_tested_there() {
    let page = include_str!("../../../../docs/guide/from-controller-runtime.md");
    let mut count = 0;
    let rows = page.lines().filter(|line| line.starts_with("| "));
    for row in rows.filter(|row| !row.ends_with("| tested in |")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [_, here, tested] = cells.as_slice() else {
            panic!("three columns: {row}");
        };
        if *tested == "*none*" {
            continue;
        }
        let files: Vec<String> = tested
            .split(", ")
            .map(|name| source(name.trim_matches('`')))
            .collect();
        for name in calls(here) {
            let is_there = files.iter().any(|source| has_call(source, name));
            assert!(is_there, "{name}(..) is not in {tested}: {row}");
        }
        count += files.len();
    }
    assert!(count >= 80, "{count}");
}

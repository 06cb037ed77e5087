//! Module cycles: at no level of the module tree of a crate do modules depend on each other.

mod cycles;
mod parse;
mod resolve;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::packages;
use cycles::sibling_cycles;
use resolve::ModuleTree;

/// Returns the sources of a crate by module path.
pub(crate) fn sources(src: &Path) -> BTreeMap<Vec<String>, String> {
    let mut sources = BTreeMap::new();
    let mut folders = vec![src.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of sources") {
            let path: PathBuf = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file");
                sources.insert(module_of(src, &path), text);
            }
        }
    }
    sources
}

/// Returns the module path of a file: `request/steps/write.rs` is `request::steps::write`.
fn module_of(src: &Path, file: &Path) -> Vec<String> {
    let relative = file.strip_prefix(src).expect("a file of the crate");
    let mut parts: Vec<String> = relative
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if matches!(
        parts.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
        parts.pop();
    }
    parts
}

#[test]
fn no_crate_has_a_module_cycle() {
    let (mut modules, mut edges) = (0, 0);
    let mut found = Vec::new();
    for package in packages() {
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        let src = manifest.parent().expect("a folder").join("src");
        if !src.is_dir() {
            continue;
        }
        let tree = ModuleTree::new(sources(&src));
        let graph = tree.edges();
        modules += tree.len();
        edges += graph.values().map(|targets| targets.len()).sum::<usize>();
        let name = package["name"].as_str().expect("a name");
        let cycles = sibling_cycles(&graph);
        found.extend(cycles.into_iter().map(|cycle| format!("{name}: {cycle}")));
    }
    let line = format!("module graph: {modules} modules, {edges} edges");
    writeln!(std::io::stderr(), "{line}").expect("standard error is open");
    assert!(
        modules > 800 && edges > 2000,
        "the sources were not read: {line}"
    );
    assert!(found.is_empty(), "module cycles:\n{}", found.join("\n"));
}

/// Returns a module tree of pairs of path and source.
fn tree(files: &[(&str, &str)]) -> ModuleTree {
    let files = files.iter().map(|(path, text)| {
        let parts = path.split("::").filter(|part| !part.is_empty());
        (parts.map(str::to_owned).collect(), (*text).to_owned())
    });
    ModuleTree::new(files.collect())
}

#[test]
fn cycle_is_found_at_every_level() {
    let plain = [
        ("", "mod a; mod b; pub use a::A;"),
        ("a", "mod x; mod y; pub use x::A; pub(crate) use y::Y;"),
        ("a::x", "use super::Y; pub struct A(Y);"),
        ("a::y", "pub struct Y;"),
        ("b", "use crate::A; fn f(_: A) {}"),
    ];
    assert_eq!(sibling_cycles(&tree(&plain).edges()), [""; 0]);

    let mut between_files = plain;
    between_files[3].1 = "use super::x::A; pub struct Y(Option<Box<A>>);";
    let found = sibling_cycles(&tree(&between_files).edges());
    assert_eq!(found, ["a::x -> a::y -> a::x"]);

    let mut between_folders = plain;
    between_folders[3].1 = "pub struct Y; fn g() { crate::b::f(crate::A::new()) }";
    let found = sibling_cycles(&tree(&between_folders).edges());
    assert!(found.contains(&"a -> b -> a".to_owned()), "{found:?}");
}

#[test]
fn tests_strings_and_comments_have_no_edges() {
    let files = [
        ("", "mod a; mod b;"),
        ("a", "use crate::b::B; pub struct A(B);"),
        (
            "b",
            "pub struct B; // crate::a::A\nconst T: &str = \"crate::a::A\";\n\
             #[cfg(test)]\nmod tests { use crate::a::A; }",
        ),
    ];
    assert_eq!(sibling_cycles(&tree(&files).edges()), [""; 0]);
}

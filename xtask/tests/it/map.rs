//! The map of `docs/ARCHITECTURE.md` is complete, and the paths that it names exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::root;

fn page() -> String {
    std::fs::read_to_string(root().join("docs/ARCHITECTURE.md")).expect("the page")
}

/// Returns the code spans of a text.
fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns the folder that a path of the page is relative to; `None` if a code span is no path, or
/// is the path of a request.
fn base(span: &str) -> Option<PathBuf> {
    let (first, _) = span
        .split_once('/')
        .filter(|(first, _)| !first.is_empty())?;
    let crates = root().join("crates");
    if root().join(first).is_dir() {
        return Some(root());
    }
    crates.join(first).is_dir().then_some(crates)
}

#[test]
fn paths_of_the_page_exist() {
    let page = page();
    let paths: Vec<_> = code_spans(&page)
        .filter_map(|span| Some((span, base(span)?.join(span))))
        .collect();
    assert!(paths.len() > 80, "too few paths were read: {}", paths.len());
    let without_crate: Vec<_> = code_spans(&page)
        .filter(|span| span.contains('/') && span.ends_with(".rs") && base(span).is_none())
        .collect();
    assert!(
        without_crate.is_empty(),
        "name no crate: {without_crate:#?}"
    );
    let missing: Vec<_> = paths
        .iter()
        .filter(|(_, path)| !path.exists())
        .map(|(span, _)| *span)
        .collect();
    assert!(missing.is_empty(), "do not exist: {missing:#?}");
}

/// Returns the folders that the page lists for each crate.
fn listed(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut listed = BTreeMap::<String, BTreeSet<String>>::new();
    let mut section = None;
    for line in page.lines() {
        if let Some(title) = line.strip_prefix('#') {
            section = title.strip_prefix("## ").map(str::to_owned);
        } else if let Some(name) = &section {
            let folders = listed.entry(name.clone()).or_default();
            let cell = line
                .strip_prefix("| ")
                .and_then(|row| row.split(" | ").next());
            folders.extend(code_spans(cell.unwrap_or_default()).map(str::to_owned));
        }
    }
    listed
}

/// Returns the folders of a crate's sources.
fn folders(of: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(of.join("src")).expect("a folder of sources");
    entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            format!("src/{name}")
        })
        .collect()
}

#[test]
fn every_folder_of_every_crate_is_listed() {
    let listed = listed(&page());
    let crates = std::fs::read_dir(root().join("crates")).expect("a folder of crates");
    let found: BTreeMap<_, _> = crates
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            (name.into_owned(), folders(&path))
        })
        .collect();
    assert!(found.len() > 10, "too few crates were read");
    assert_eq!(listed, found);
}

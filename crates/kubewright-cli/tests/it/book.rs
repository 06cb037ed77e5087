//! The book in `docs/`: whole, and true to the sources.

use std::fs;
use std::path::{Path, PathBuf};

use super::kubewright;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| format!("{}: {error}", path.display()))
}

/// The pages that the summary names, as paths.
fn pages() -> Vec<PathBuf> {
    let summary = read(&docs().join("SUMMARY.md"));
    links(&summary).map(|link| docs().join(link)).collect()
}

/// Where the links of a page lead, but for those to the web and within the page.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let ends = text.split("](").skip(1);
    let targets = ends.filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.starts_with("http") && !target.starts_with('#'))
}

/// The files below a folder with an ending.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
    {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path
            .extension()
            .is_some_and(|extension| extension == ending)
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The blocks of a language on a page.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(about), None) => {
                open = Some((about.split(',').next() == Some(language), String::new()));
            }
            (Some(_), Some((wanted, block))) => {
                if *wanted {
                    found.push(block.clone());
                }
                open = None;
            }
            (None, Some((_, block))) => *block += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    found
}

#[test]
fn every_page_is_in_the_summary_and_every_link_leads_somewhere() {
    let listed: Vec<PathBuf> = pages()
        .iter()
        .map(|page| page.canonicalize().expect("a page that is there"))
        .collect();
    for page in files(&docs(), "md") {
        let page = page.canonicalize().expect("a page");
        let is_summary = page.ends_with("SUMMARY.md");
        assert!(is_summary || listed.contains(&page), "{}", page.display());
        let folder = page.parent().expect("a folder");
        let text = read(&page);
        for link in links(&text) {
            let target = link.split('#').next().unwrap_or_default();
            assert!(folder.join(target).exists(), "{}: {link}", page.display());
        }
    }
}

#[test]
fn every_include_is_a_file_that_is_compiled_and_tested() {
    let mut count = 0;
    for page in pages() {
        let text = read(&page);
        for include in text.split("{{#include ").skip(1) {
            let path = include.split("}}").next().unwrap_or_default();
            let file = page.parent().expect("a folder").join(path);
            assert!(file.is_file(), "{}: {path}", page.display());
            assert!(path.contains("/examples/"), "{path} is no example");
            count += 1;
        }
    }
    assert!(count >= 10, "{count}");
}

/// Rust without comments and blanks, and without the commas that rustfmt adds.
fn bare(rust: &str) -> String {
    let code = rust
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    let code: String = code
        .flat_map(str::chars)
        .filter(|c| !c.is_whitespace())
        .collect();
    code.replace(",)", ")").replace(",]", "]")
}

#[test]
fn every_line_of_rust_on_a_page_stands_in_the_sources() {
    let root = docs().join("..");
    let mut sources = String::new();
    for folder in [
        "operators/mydaemonset",
        "operators/sidecarset",
        "crates/kubewright/examples",
    ] {
        for file in files(&root.join(folder), "rs") {
            sources += &bare(&read(&file));
        }
    }
    let mut count = 0;
    for page in pages() {
        for block in blocks(&read(&page), "rust") {
            for line in block
                .lines()
                .filter(|line| !line.starts_with("{{#include "))
            {
                let wanted = bare(line);
                let wanted = wanted.trim_end_matches(',');
                assert!(sources.contains(wanted), "{}: {line}", page.display());
                count += 1;
            }
        }
    }
    assert!(count >= 50, "{count}");
}

/// The lines of ours on a page: those of its shell blocks, and those within its sentences.
fn lines_of_ours(text: &str) -> Vec<String> {
    let blocks = blocks(text, "sh");
    let lines = blocks.iter().flat_map(|block| block.lines());
    let inline = text.split('`').skip(1).step_by(2);
    let ours = lines.chain(inline).filter_map(|line| {
        let line = line.strip_prefix("kubewright ")?;
        line.split(" | ").next().map(str::to_owned)
    });
    ours.collect()
}

/// The flags that a help text names.
fn flags(help: &str) -> Vec<&str> {
    let words = help.split(|letter: char| letter.is_whitespace() || "=[],".contains(letter));
    words.filter(|word| word.starts_with("--")).collect()
}

#[test]
fn every_command_line_of_ours_on_a_page_is_understood() {
    let mut count = 0;
    for page in pages() {
        for line in lines_of_ours(&read(&page)) {
            let words: Vec<&str> = line.split(' ').collect();
            if words == ["help"] {
                continue; // it has no help of its own
            }
            let is_group = ["create", "generate"].contains(&words[0]) && words.len() > 1;
            let command = words.get(..1 + usize::from(is_group)).unwrap_or(&words);
            let help = kubewright(&[command, &["--help"]].concat()).output();
            let help = help.expect("the command runs");
            assert!(help.status.success(), "{}: {line}", page.display());
            let help = String::from_utf8_lossy(&help.stdout).into_owned();
            let known = flags(&help);
            for word in words.iter().filter(|word| word.starts_with("--")) {
                let flag = word.split('=').next().unwrap_or_default();
                let is_known = known.contains(&flag);
                assert!(is_known, "{}: {flag} of {line}", page.display());
            }
            count += 1;
        }
    }
    assert!(count >= 60, "{count}");
}

#[test]
fn every_block_of_data_on_a_page_is_read_by_its_parser() {
    let mut count = 0;
    for page in pages() {
        let text = read(&page);
        for block in blocks(&text, "toml") {
            let read = toml::from_str::<toml::Table>(&block);
            assert!(read.is_ok(), "{}: {read:?}\n{block}", page.display());
            count += 1;
        }
        for block in blocks(&text, "yaml") {
            let read = kubewright_wire::yaml::documents(&block);
            assert!(read.is_ok(), "{}: {read:?}\n{block}", page.display());
            count += 1;
        }
        for block in blocks(&text, "json") {
            let read = serde_json::from_str::<serde_json::Value>(&block);
            assert!(read.is_ok(), "{}: {read:?}\n{block}", page.display());
            count += 1;
        }
    }
    assert!(count >= 1, "{count}");
}

/// Every command, flag, target and marker of kubebuilder's, controller-gen's and code-generator's
/// stands on the page for those who know them.
#[test]
fn every_name_of_kubebuilders_stands_on_its_page() {
    let page = read(&docs().join("guide/from-kubebuilder.md"));
    let code: Vec<&str> = page.split('`').skip(1).step_by(2).collect();
    let names = include_str!("../kubebuilder/names.txt");
    let mut missing = Vec::new();
    let mut count = 0;
    for line in names.lines().filter(|line| !line.starts_with('#')) {
        for name in line.split_whitespace() {
            count += 1;
            if !code.iter().any(|span| says(span, name)) {
                missing.push(name);
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
    assert!(count >= 300, "{count}");
}

/// Whether a span has the name as a word of its own.
fn says(span: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || "-_:+./*".contains(letter);
    span.match_indices(name).any(|(at, _)| {
        let before = span.get(..at).and_then(|text| text.chars().next_back());
        let after = span
            .get(at + name.len()..)
            .and_then(|text| text.chars().next());
        let joins = |letter: Option<char>| letter.is_some_and(is_part);
        !joins(before) && !joins(after)
    })
}

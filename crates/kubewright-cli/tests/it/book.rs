//! The book in `docs/`: it is complete, and agrees with the sources.

use std::fs;
use std::path::{Path, PathBuf};

use super::{kubewright, stdout};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| format!("{}: {error}", path.display()))
}

/// Returns the paths of the pages in the summary.
fn pages() -> Vec<PathBuf> {
    let summary = read(&docs().join("SUMMARY.md"));
    links(&summary).map(|link| docs().join(link)).collect()
}

/// Returns the targets of links to other pages and files.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let ends = text.split("](").skip(1);
    let targets = ends.filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.starts_with("http") && !target.starts_with('#'))
}

/// Returns the files below a folder with an extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
    {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the code blocks of a language on a page.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(attributes) = line.strip_prefix("```") else {
            continue;
        };
        let block: String = lines
            .by_ref()
            .take_while(|line| !line.starts_with("```"))
            .map(|line| format!("{line}\n"))
            .collect();
        if attributes.split(',').next() == Some(language) {
            found.push(block);
        }
    }
    found
}

#[test]
fn every_page_is_in_the_summary_and_every_link_has_a_target() {
    let listed: Vec<PathBuf> = pages()
        .iter()
        .map(|page| page.canonicalize().expect("an existing page"))
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
fn every_include_is_an_example_that_is_compiled() {
    let mut count = 0;
    for page in pages() {
        let text = read(&page);
        for include in text.split("{{#include ").skip(1) {
            let path = include.split("}}").next().unwrap_or_default();
            let file = page.parent().expect("a folder").join(path);
            assert!(file.is_file(), "{}: {path}", page.display());
            assert!(path.contains("/examples/"), "{path} is not an example");
            count += 1;
        }
    }
    assert!(count >= 10, "{count}");
}

/// Returns Rust code without comments, white space and the commas that rustfmt adds.
fn normalized(rust: &str) -> String {
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
fn every_line_of_rust_on_a_page_is_in_the_sources() {
    let root = docs().join("..");
    let mut sources = String::new();
    for folder in [
        "operators/mydaemonset",
        "operators/sidecarset",
        "crates/kubewright/examples",
    ] {
        for file in files(&root.join(folder), "rs") {
            sources += &normalized(&read(&file));
        }
    }
    let mut count = 0;
    for page in pages() {
        for block in blocks(&read(&page), "rust") {
            for line in block
                .lines()
                .filter(|line| !line.starts_with("{{#include "))
            {
                let code = normalized(line);
                let is_known = sources.contains(code.trim_end_matches(','));
                assert!(is_known, "{}: {line}", page.display());
                count += 1;
            }
        }
    }
    assert!(count >= 50, "{count}");
}

/// Returns the command lines of kubewright on a page: in its shell blocks and inline.
fn command_lines(text: &str) -> Vec<String> {
    let blocks = blocks(text, "sh");
    let lines = blocks.iter().flat_map(|block| block.lines());
    let inline = text.split('`').skip(1).step_by(2);
    let arguments = lines.chain(inline).filter_map(|line| {
        let arguments = line.strip_prefix("kubewright ")?;
        arguments.split(" | ").next().map(str::to_owned)
    });
    arguments.collect()
}

/// Returns the flags in a help text.
fn flags(help: &str) -> Vec<&str> {
    let words = help.split(|letter: char| letter.is_whitespace() || "=[],".contains(letter));
    words.filter(|word| word.starts_with("--")).collect()
}

#[test]
fn every_command_line_on_a_page_has_known_flags() {
    let mut count = 0;
    for page in pages() {
        for line in command_lines(&read(&page)) {
            let words: Vec<&str> = line.split(' ').collect();
            if words == ["help"] {
                continue; // it has no help itself
            }
            let is_group = ["create", "generate"].contains(&words[0]) && words.len() > 1;
            let command = words.get(..1 + usize::from(is_group)).unwrap_or(&words);
            let output = kubewright(&[command, &["--help"]].concat()).output();
            let output = output.expect("the command runs");
            assert!(output.status.success(), "{}: {line}", page.display());
            let help = stdout(&output);
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
fn every_block_of_data_on_a_page_is_parsed() {
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

/// The page for users of kubebuilder has every command, flag, target and marker of kubebuilder,
/// controller-gen and code-generator.
#[test]
fn every_name_of_kubebuilder_is_on_its_page() {
    let page = read(&docs().join("guide/from-kubebuilder.md"));
    let code: Vec<&str> = page.split('`').skip(1).step_by(2).collect();
    let names = include_str!("../kubebuilder/names.txt");
    let mut missing = Vec::new();
    let mut count = 0;
    for line in names.lines().filter(|line| !line.starts_with('#')) {
        for name in line.split_whitespace() {
            count += 1;
            if !code.iter().any(|span| has_word(span, name)) {
                missing.push(name);
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
    assert!(count >= 300, "{count}");
}

/// Whether a span has the name as a complete word.
fn has_word(span: &str, name: &str) -> bool {
    let is_word_part = |letter: char| letter.is_alphanumeric() || "-_:+./*".contains(letter);
    span.match_indices(name).any(|(start, _)| {
        let before = span.get(..start).and_then(|text| text.chars().next_back());
        let after = span
            .get(start + name.len()..)
            .and_then(|text| text.chars().next());
        !before.is_some_and(is_word_part) && !after.is_some_and(is_word_part)
    })
}

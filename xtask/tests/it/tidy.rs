//! Style rules that lints cannot check: sizes of crates, `//!` lines, words in comments.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::{packages, root};

/// The maximum size of a crate, in lines of `src` without tests, comments and blank lines.
const MAX_LINES: usize = 30_000;

/// Returns the Rust files below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

pub(crate) fn read(file: &Path) -> String {
    std::fs::read_to_string(file).expect("a source file")
}

/// Returns the folders of all packages of the workspace, by name.
fn folders() -> BTreeMap<String, PathBuf> {
    packages()
        .iter()
        .map(|package| {
            let name = package["name"].as_str().expect("a name").to_owned();
            let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
            (name, manifest.parent().expect("a folder").to_owned())
        })
        .collect()
}

/// Returns the tokens of a file without items for tests.
pub(crate) fn code(source: &str) -> Vec<TokenTree> {
    let tokens = TokenStream::from_str(source).expect("a source file has tokens");
    without_tests(tokens)
}

pub(crate) fn without_tests(stream: TokenStream) -> Vec<TokenTree> {
    let mut remaining = Vec::new();
    let mut tokens = stream.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_attribute = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
        let is_test = is_attribute
            && tokens.peek().is_some_and(|next| {
                let text: String = next.to_string().split_whitespace().collect();
                text.starts_with("[cfg(test") || text.starts_with("[cfg(all(test")
            });
        if !is_test {
            remaining.push(token);
            continue;
        }
        tokens.next();
        for token in tokens.by_ref() {
            let is_block = matches!(&token, TokenTree::Group(group)
                if group.delimiter() == Delimiter::Brace);
            let is_end = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ';');
            if is_block || is_end {
                break;
            }
        }
    }
    remaining
}

/// Collects the lines with a token, including tokens in groups.
fn lines(tokens: &[TokenTree], found: &mut std::collections::BTreeSet<usize>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                found.insert(group.span_open().start().line);
                found.insert(group.span_close().end().line);
                lines(&without_tests(group.stream()), found);
            }
            token => found.extend(token.span().start().line..=token.span().end().line),
        }
    }
}

#[test]
fn every_crate_has_at_most_30000_lines() {
    let mut sizes = Vec::new();
    for (name, folder) in folders() {
        let size: usize = files(&folder.join("src"))
            .iter()
            .map(|file| {
                let mut found = std::collections::BTreeSet::new();
                let source = read(file);
                let doc_free: String = source
                    .lines()
                    .map(|line| {
                        let is_doc = line.trim_start().starts_with("//");
                        if is_doc {
                            "\n".to_owned()
                        } else {
                            format!("{line}\n")
                        }
                    })
                    .collect();
                lines(&code(&doc_free), &mut found);
                found.len()
            })
            .sum();
        sizes.push((size, name));
    }
    sizes.sort();
    let largest: Vec<String> = sizes
        .iter()
        .rev()
        .take(4)
        .map(|(size, name)| format!("{name} {size}"))
        .collect();
    writeln!(std::io::stderr(), "largest crates: {}", largest.join(", ")).expect("stderr");
    let (size, name) = sizes.last().expect("there are crates");
    assert!(*size > 5_000, "the sources were not read");
    assert!(
        *size <= MAX_LINES,
        "{name} has {size} lines, at most {MAX_LINES}"
    );
}

#[test]
fn every_file_starts_with_a_description() {
    let mut undescribed = Vec::new();
    for folder in folders().values() {
        for part in ["src", "tests/it", "examples", "benches"] {
            for file in files(&folder.join(part)) {
                let source = read(&file);
                let mut lines = source.lines().filter(|line| !line.is_empty());
                let first = lines.find(|line| !line.starts_with("#!["));
                if !first.is_some_and(|line| line.starts_with("//! ")) {
                    undescribed.push(file.display().to_string());
                }
            }
        }
    }
    assert!(
        undescribed.is_empty(),
        "no `//!` line:\n{}",
        undescribed.join("\n")
    );
}

/// Word stems that comments do not use. CONTRIBUTING.md lists their replacements.
const AVOIDED: [&str; 6] = ["answer", "ask", "tell", "nobody", "somebody", "refus"];

/// Whether a word is a form of an avoided stem.
fn is_avoided(word: &str) -> bool {
    let word = word.to_lowercase();
    word == "told"
        || AVOIDED.iter().any(|root| {
            let rest = word.strip_prefix(root);
            rest.is_some_and(|rest| match *root {
                "ask" => matches!(rest, "" | "s" | "ed" | "ing" | "er"),
                "tell" => matches!(rest, "" | "s" | "ing" | "er"),
                "nobody" | "somebody" => rest.is_empty(),
                _ => true,
            })
        })
}

/// Returns the text of the comments of a file.
fn comments(source: &str) -> String {
    let comments = source.lines().filter_map(|line| {
        let line = line.trim_start();
        line.starts_with("//")
            .then(|| line.trim_start_matches(['/', '!']))
    });
    comments.collect::<Vec<_>>().join(" ")
}

#[test]
fn comments_avoid_words_outside_of_the_vocabulary() {
    let (mut words, mut found) = (0, BTreeMap::<String, usize>::new());
    let folders = ["bench", "crates", "operators", "xtask"];
    let all = folders.iter().flat_map(|name| files(&root().join(name)));
    let is_in = |file: &PathBuf, name: &str| file.components().any(|part| part.as_os_str() == name);
    for file in all.filter(|file| is_in(file, "src") && !is_in(file, "target")) {
        let text = comments(&read(&file));
        for word in text
            .split(|c: char| !c.is_alphabetic())
            .filter(|word| !word.is_empty())
        {
            words += 1;
            if is_avoided(word) {
                *found.entry(word.to_lowercase()).or_default() += 1;
            }
        }
    }
    let count: usize = found.values().sum();
    let line = format!("{count} of {words} words of comments: {found:?}");
    writeln!(std::io::stderr(), "{line}").expect("stderr");
    assert!(words > 50_000, "the comments were not read: {line}");
    assert!(count * 1000 < words, "more than 10 in 10,000: {line}");
}

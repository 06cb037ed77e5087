//! Names of built-in kinds in the server. Only `kubewright-kinds` should contain them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use kubewright_kinds::{KINDS, Persistence};
use proc_macro2::{Delimiter, TokenTree};

use crate::root;
use crate::tidy::{code, files, read, without_tests};

/// The crates of the server except `kubewright-kinds`.
const SERVER: [&str; 2] = ["kubewright-apiserver", "kubewright-cluster"];

/// The files that contain the name of a kind, and the reasons.
const EXPECTED: [(&str, &str); 2] = [
    (
        "crates/kubewright-apiserver/src/admission/plugin.rs",
        "admission plugins that are named after a kind",
    ),
    (
        "crates/kubewright-apiserver/src/store/disk/database.rs",
        "a table of the database with the name secrets",
    ),
];

/// Returns the names of kinds and resources.
fn names() -> BTreeSet<&'static str> {
    let mut names = BTreeSet::new();
    for kind in KINDS {
        names.insert(kind.kind);
        if kind.persistence != Persistence::Subresource {
            names.insert(kind.plural);
        }
    }
    names
}

/// The names in string literals. A literal before a colon or alone in brackets is a field of an
/// object: `{"endpoints": []}`, `slice["endpoints"]`.
fn named<'n>(tokens: &[TokenTree], names: &BTreeSet<&'n str>, found: &mut Vec<&'n str>) {
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                let inner = without_tests(group.stream());
                let is_index = group.delimiter() == Delimiter::Bracket && inner.len() == 1;
                if !is_index {
                    named(&inner, names, found);
                }
            }
            TokenTree::Literal(literal) => {
                let next = tokens.get(index + 1);
                let is_field =
                    matches!(next, Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
                let text = literal.to_string();
                let name = names.get(text.trim_matches('"')).filter(|_| !is_field);
                found.extend(name);
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

#[test]
fn built_in_kinds_are_named_in_kubewright_kinds_alone() {
    let names = names();
    assert!(names.len() > 120, "{names:?}");
    let mut found = BTreeMap::new();
    for name in SERVER {
        for file in files(&root().join("crates").join(name).join("src")) {
            let mut kinds = Vec::new();
            named(&code(&read(&file)), &names, &mut kinds);
            if !kinds.is_empty() {
                let file = file.strip_prefix(root()).expect("a file of the workspace");
                found.insert(file.display().to_string(), kinds);
            }
        }
    }
    let line = format!("files of the server that name a built-in kind: {found:?}");
    writeln!(std::io::stderr(), "{line}").expect("standard error is open");
    let expected: BTreeSet<_> = EXPECTED
        .iter()
        .map(|(file, _)| (*file).to_owned())
        .collect();
    let found: BTreeSet<_> = found.into_keys().collect();
    assert_eq!(found, expected, "move what is new to kubewright-kinds");
}

#[test]
fn literals_that_name_a_kind_are_distinguished_from_fields() {
    let source = r#"
        fn f(key: &Key) -> bool {
            let slice = json!({"endpoints": [], "kind": "Pod"});
            key.resource() == "pods" || slice["endpoints"].is_null()
        }
        #[cfg(test)]
        mod tests { const NAME: &str = "nodes"; }
    "#;
    let mut found = Vec::new();
    named(&code(source), &names(), &mut found);
    assert_eq!(found, ["Pod", "pods"]);
}

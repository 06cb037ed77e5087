//! Reads the paths that a source file uses.

use std::collections::BTreeMap;
use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A path as it is written: `crate::a::B`.
pub(super) type Path = Vec<String>;

/// The paths in a file.
#[derive(Debug, Default)]
pub(super) struct FileUses {
    /// Imports, by their names in the file.
    pub(super) imports: BTreeMap<String, Path>,
    /// Modules that are imported with `*`.
    pub(super) globs: Vec<Path>,
    /// Paths outside of `use`, and imports that are not re-exported.
    pub(super) paths: Vec<Path>,
    /// Child modules that only tests compile.
    pub(super) test_modules: Vec<String>,
}

impl FileUses {
    /// Parses a file. Items for tests are skipped.
    pub(super) fn parse(source: &str) -> Self {
        let tokens = TokenStream::from_str(source).expect("a source file has tokens");
        let mut uses = Self::default();
        uses.read(&tokens.into_iter().collect::<Vec<_>>());
        uses
    }

    fn read(&mut self, tokens: &[TokenTree]) {
        let mut at = 0;
        while at < tokens.len() {
            if is_test_attribute(&tokens[at..]) {
                at = self.skip_test_item(tokens, at + 2);
            } else if is_ident(&tokens[at], "use") {
                let is_public = at > 0 && is_visibility(&tokens[..at]);
                let end = position(tokens, at, |token| is_punct(token, ';'));
                self.import(&tokens[at + 1..end], is_public);
                at = end + 1;
            } else if let Some((path, next)) = read_path(tokens, at) {
                if path.len() > 1 {
                    self.paths.push(path);
                }
                at = next;
            } else {
                if let TokenTree::Group(group) = &tokens[at] {
                    self.read(&group.stream().into_iter().collect::<Vec<_>>());
                }
                at += 1;
            }
        }
    }

    /// Skips the item after `#[cfg(test)]`. Returns the index of the next one.
    fn skip_test_item(&mut self, tokens: &[TokenTree], start: usize) -> usize {
        let is_end = |token: &TokenTree| {
            let is_block = matches!(token, TokenTree::Group(group)
                if group.delimiter() == Delimiter::Brace);
            is_punct(token, ';') || is_block
        };
        let end = position(tokens, start, is_end);
        let item = &tokens[start..end];
        if let Some(at) = item.iter().position(|token| is_ident(token, "mod"))
            && let Some(TokenTree::Ident(name)) = item.get(at + 1)
        {
            self.test_modules.push(name.to_string());
        }
        end + 1
    }

    fn import(&mut self, tree: &[TokenTree], is_public: bool) {
        for (path, name) in flatten(tree, &[]) {
            if path.last().is_some_and(|last| last == "*") {
                let module = path[..path.len() - 1].to_vec();
                if !is_public {
                    self.paths.push(module.clone());
                }
                self.globs.push(module);
                continue;
            }
            if !is_public {
                self.paths.push(path.clone());
            }
            self.imports.insert(name, path);
        }
    }
}

/// Returns the paths of a `use` tree with the names that they introduce.
fn flatten(tree: &[TokenTree], prefix: &[String]) -> Vec<(Path, String)> {
    let mut path = prefix.to_vec();
    let mut name = None;
    let mut found = Vec::new();
    let mut at = 0;
    while at < tree.len() {
        match &tree[at] {
            TokenTree::Group(group) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                for part in inner.split(|token| is_punct(token, ',')) {
                    found.extend(flatten(part, &path));
                }
                return found;
            }
            TokenTree::Ident(ident) if *ident == "as" => {
                name = tree.get(at + 1).map(ToString::to_string);
                at += 1;
            }
            TokenTree::Ident(ident) => path.push(ident.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == '*' => path.push("*".to_owned()),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        at += 1;
    }
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    if let Some(last) = path.last().cloned() {
        found.push((path, name.unwrap_or(last)));
    }
    found
}

/// Reads the path that begins at a token: `a` or `a::b::C`.
fn read_path(tokens: &[TokenTree], start: usize) -> Option<(Path, usize)> {
    let TokenTree::Ident(first) = &tokens[start] else {
        return None;
    };
    let mut path = vec![first.to_string()];
    let mut at = start + 1;
    while let [first, second, TokenTree::Ident(next), ..] = &tokens[at..]
        && is_punct(first, ':')
        && is_punct(second, ':')
    {
        path.push(next.to_string());
        at += 3;
    }
    Some((path, at))
}

fn is_test_attribute(tokens: &[TokenTree]) -> bool {
    let [first, TokenTree::Group(group), ..] = tokens else {
        return false;
    };
    let text: String = group.stream().to_string().split_whitespace().collect();
    is_punct(first, '#') && (text.starts_with("cfg(test") || text.starts_with("cfg(all(test"))
}

/// Whether the tokens end with a visibility: `pub` or `pub(crate)`.
fn is_visibility(tokens: &[TokenTree]) -> bool {
    match tokens {
        [.., token, TokenTree::Group(group)] if group.delimiter() == Delimiter::Parenthesis => {
            is_ident(token, "pub")
        }
        [.., token] => is_ident(token, "pub"),
        [] => false,
    }
}

fn position(tokens: &[TokenTree], start: usize, is_found: impl Fn(&TokenTree) -> bool) -> usize {
    let found = tokens[start..].iter().position(is_found);
    found.map_or(tokens.len() - 1, |offset| start + offset)
}

fn is_ident(token: &TokenTree, name: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if *ident == name)
}

fn is_punct(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

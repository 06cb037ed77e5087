//! Adds items and tests to a file.

use syn::spanned::Spanned as _;
use syn::{Item, ItemMod};

use super::Source;

/// Whether the file has a top-level function with this name.
pub(crate) fn has_function(source: &Source, name: &str) -> bool {
    let items = source.syntax.items.iter();
    let mut functions = items.filter_map(|item| match item {
        Item::Fn(function) => Some(&function.sig.ident),
        _ => None,
    });
    functions.any(|function| function == name)
}

/// Returns the text with the items before the module `tests`, and the tests at its end.
pub(crate) fn with_items(source: &Source, items: &str, tests: &str) -> String {
    let line_break = source.line_break();
    let module = source.syntax.items.iter().find_map(|item| match item {
        Item::Mod(module) if module.ident == "tests" => Some(module),
        _ => None,
    });
    let Some((module, end)) =
        module.and_then(|module| Some((module, closing_brace(source, module)?)))
    else {
        let mut text = source.text.trim_end().to_owned();
        text += &format!("{line_break}{items}{line_break}");
        if !tests.is_empty() {
            text += &format!(
                "{line_break}#[cfg(test)]{line_break}mod tests {{{line_break}    use super::*;\
                 {line_break}{tests}}}{line_break}"
            );
        }
        return text;
    };
    // The later position first: the earlier one is still valid afterwards.
    let mut text = source.inserted(end, tests);
    let start = source.range(module.span()).start;
    let items = items.trim_start_matches(['\r', '\n']);
    text.insert_str(start, &format!("{items}{line_break}"));
    text
}

/// Returns the position of the closing brace of a module.
fn closing_brace(source: &Source, module: &ItemMod) -> Option<usize> {
    let (brace, _) = module.content.as_ref()?;
    Some(source.range(brace.span.close()).start)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{has_function, with_items};
    use crate::source::Source;

    fn source(text: &str) -> Source {
        Source::parse(Path::new("x.rs"), text.to_owned()).unwrap()
    }

    #[test]
    fn items_are_added_before_the_tests_and_tests_at_their_end() {
        let file = source(
            "// Mine.\nfn a() {}\n\n/// Docs.\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n",
        );
        assert!(has_function(&file, "a") && !has_function(&file, "t"));
        assert_eq!(
            with_items(&file, "\nfn b() {}\n", "\n    fn u() {}\n"),
            "// Mine.\nfn a() {}\n\nfn b() {}\n\n/// Docs.\n#[cfg(test)]\nmod tests {\n    fn t() {}\n\n    fn u() {}\n}\n"
        );
    }

    #[test]
    fn module_tests_is_added_to_a_file_without_tests() {
        let text = with_items(&source("fn a() {}\n"), "\nfn b() {}\n", "    fn t() {}\n");
        assert!(has_function(&source(&text), "b"), "{text}");
        assert!(
            text.contains("mod tests {\n    use super::*;\n    fn t() {}\n}"),
            "{text}"
        );
    }
}

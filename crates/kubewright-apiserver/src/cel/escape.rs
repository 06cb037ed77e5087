/// Words that no name may be.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// The name under which a property is found in expressions (k8s.io/apiserver/pkg/cel/escaping.go);
/// none when there can be no such name.
pub(crate) fn escape(name: &str) -> Option<String> {
    let first = name.chars().next()?;
    if first.is_ascii_digit() {
        return None;
    }
    if is_reserved(name) {
        return Some(format!("__{name}__"));
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if !name.chars().all(fits) {
        return None;
    }
    let escaped = name.replace("__", "__underscores__");
    let escaped = escaped.replace('.', "__dot__").replace('-', "__dash__");
    Some(escaped.replace('/', "__slash__"))
}

/// Whether a word can be the name of a variable.
pub(crate) fn is_identifier(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let fits = |c: char| is_letter(c) || c.is_ascii_digit();
    name.starts_with(is_letter) && name.chars().all(fits) && !is_reserved(name)
}

/// Whether a word is kept for the language.
pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn names_that_are_none_are_written_otherwise() {
        assert_eq!(escape("a_b").as_deref(), Some("a_b"));
        assert_eq!(escape("namespace").as_deref(), Some("__namespace__"));
        assert_eq!(
            escape("a-b.c/d").as_deref(),
            Some("a__dash__b__dot__c__slash__d")
        );
        assert_eq!(escape("a__b").as_deref(), Some("a__underscores__b"));
        assert_eq!(escape("1a"), None);
        assert_eq!(escape("a b"), None);
    }
}

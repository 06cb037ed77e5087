//! Identifiers of CEL, and the names under which expressions select the properties of a schema.

/// Words of the language that no variable can be named after.
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

/// The name by which expressions select a property (k8s.io/apiserver/pkg/cel/escaping.go), or
/// `None` if expressions cannot select it.
///
/// ```
/// # use kubewright_cel::escape;
/// assert_eq!(escape("cert-manager").as_deref(), Some("cert__dash__manager"));
/// assert_eq!(escape("namespace").as_deref(), Some("__namespace__"));
/// assert_eq!(escape("1st"), None);
/// ```
pub fn escape(name: &str) -> Option<String> {
    let first = name.chars().next()?;
    if first.is_ascii_digit() {
        return None;
    }
    if is_reserved(name) {
        return Some(format!("__{name}__"));
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if !name.chars().all(is_allowed) {
        return None;
    }
    let escaped = name
        .replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__");
    Some(escaped)
}

/// Whether a variable can have this name.
pub fn is_identifier(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_allowed = |c: char| is_letter(c) || c.is_ascii_digit();
    name.starts_with(is_letter) && name.chars().all(is_allowed) && !is_reserved(name)
}

/// Whether a word is reserved by the language.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn property_names_are_escaped_as_kubernetes_escapes_them() {
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

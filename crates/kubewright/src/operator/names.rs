//! The rules for names of an operator and its parts.

use crate::Error;

/// The maximum length of an RFC 1123 label.
pub(super) const LONGEST_LABEL: usize = 63;
/// The maximum length of a field manager (k8s.io/apimachinery/pkg/apis/meta/v1/validation,
/// FieldManagerMaxLength).
pub(super) const LONGEST_MANAGER: usize = 128;
/// The maximum length of an operator's name: its namespace `NAME-system` is a label, too.
pub(super) const LONGEST_NAME: usize = LONGEST_LABEL - "-system".len();

/// Checks the name of a namespace.
pub(super) fn check_namespace(name: &str) -> Result<(), Error> {
    check_name("the namespace", name, LONGEST_LABEL)
}

/// Checks a name that becomes part of the names of objects.
pub(super) fn check_name(what: &'static str, name: &str, longest: usize) -> Result<(), Error> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label = (1..=longest).contains(&name.len())
        && name.chars().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-');
    if is_label {
        return Ok(());
    }
    Err(Error::Name {
        what,
        name: name.to_owned(),
        longest,
    })
}

/// Returns the namespace of an operator in its manifests, unless another one is set.
pub(super) fn system_namespace(operator: &str) -> String {
    format!("{operator}-system")
}

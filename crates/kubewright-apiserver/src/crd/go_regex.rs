use regex::Regex;

/// A pattern as Go reads it, with what Go says where it cannot.
pub(super) fn go_regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|_| format!("error parsing regexp: `{pattern}`"))
}

//! Names that are DNS labels (RFC 1123).

const MAX_LABEL_LENGTH: usize = 63;

/// The message of the API server for a name that is not a DNS label.
pub(super) const DNS_LABEL_MESSAGE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters \
     or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or \
     '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/// Whether the text is a DNS label.
pub(super) fn is_dns_label(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=MAX_LABEL_LENGTH).contains(&text.len())
        && text.chars().all(is_allowed)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

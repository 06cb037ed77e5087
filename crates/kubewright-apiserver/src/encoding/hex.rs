//! Hexadecimal digits, as the ETags and hashes of Kubernetes have them.

use std::fmt::Write as _;

/// Bytes as upper-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let written = write!(text, "{byte:02X}");
        debug_assert!(written.is_ok(), "writing to a String does not fail");
    }
    text
}

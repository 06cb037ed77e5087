//! Target for the YAML parser and writer.

use kubewright_wire::yaml::{documents, from_str, to_string_multiple};

/// YAML is invalid, or its documents are equal to those that are parsed after they are written.
///
/// # Panics
///
/// When that does not hold.
pub fn yaml(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let read = documents(&text);
    let is_one = read.as_ref().is_ok_and(|documents| documents.len() <= 1);
    assert_eq!(from_str(&text).is_ok(), is_one, "a single document");
    if let Ok(read) = read {
        let written = to_string_multiple(&read);
        let again = documents(&written).expect("written documents are YAML");
        assert_eq!(again, read, "{written}");
    }
}

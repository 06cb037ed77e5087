use crate::yaml::{documents, from_str, to_string_multiple};

/// YAML reads or is refused, and what is read is written so that it reads the same.
///
/// # Panics
///
/// When that does not hold.
pub fn yaml(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let read = documents(&text);
    let is_one = read.as_ref().is_ok_and(|documents| documents.len() <= 1);
    assert_eq!(from_str(&text).is_ok(), is_one, "one document is one");
    if let Ok(read) = read {
        let written = to_string_multiple(&read);
        let again = documents(&written).expect("what is written here is YAML");
        assert_eq!(again, read, "{written}");
    }
}

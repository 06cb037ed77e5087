//! Target for label and field selectors.

use kubewright_core::{FieldSelector, LabelSelector};

/// A selector is invalid, or is equal to the one that is parsed from its text.
///
/// # Panics
///
/// When that does not hold.
pub fn selectors(bytes: &[u8]) {
    const PARSES: &str = "the text of a selector is a selector";
    let text = String::from_utf8_lossy(bytes);
    if let Ok(selector) = text.parse::<LabelSelector>() {
        let again: LabelSelector = selector.to_string().parse().expect(PARSES);
        assert_eq!(again, selector);
    }
    if let Ok(selector) = text.parse::<FieldSelector>() {
        let again: FieldSelector = selector.to_string().parse().expect(PARSES);
        assert_eq!(again, selector);
    }
}

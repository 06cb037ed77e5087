use kubewright_core::{FieldSelector, LabelSelector};

/// A selector reads or is refused, and one that reads reads again as it is shown.
///
/// # Panics
///
/// When that does not hold.
pub fn selectors(bytes: &[u8]) {
    const SHOWN: &str = "a selector is shown as it could be sent";
    let text = String::from_utf8_lossy(bytes);
    if let Ok(selector) = text.parse::<LabelSelector>() {
        let again: LabelSelector = selector.to_string().parse().expect(SHOWN);
        assert_eq!(again, selector);
    }
    if let Ok(selector) = text.parse::<FieldSelector>() {
        let again: FieldSelector = selector.to_string().parse().expect(SHOWN);
        assert_eq!(again, selector);
    }
}

//! Target for JSON merge patches (RFC 7396).

use serde_json::Value;

use kubewright_wire::patch;

/// A merge patch that is applied twice has the result of one that is applied once. The input is a
/// list of two items: the object and the patch.
///
/// # Panics
///
/// When that does not hold.
pub fn merge(bytes: &[u8]) {
    let Ok([mut once, patch]) = serde_json::from_slice::<[Value; 2]>(bytes) else {
        return;
    };
    patch::merge(&mut once, &patch);
    let mut twice = once.clone();
    patch::merge(&mut twice, &patch);
    assert_eq!(once, twice);
}

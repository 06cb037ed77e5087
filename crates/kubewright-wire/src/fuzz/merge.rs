use serde_json::Value;

use crate::patch;

/// A merge patch leaves what a second run of it does not change. The input is a list of two: the
/// object and the patch.
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

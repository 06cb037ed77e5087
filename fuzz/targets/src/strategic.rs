//! Target for strategic merge patches.

use kubewright_core::Kind;
use serde_json::{Map, Value};

use kubewright_wire::patch::strategic_merge;
use kubewright_wire::schema::Schema;

/// A strategic merge patch of a Deployment succeeds or fails without a panic, and its result is an
/// object. The input is a list of two items: the object and the patch.
///
/// # Panics
///
/// When that does not hold.
pub fn strategic(bytes: &[u8]) {
    let Ok((mut target, patch)) = serde_json::from_slice::<(Value, Map<String, Value>)>(bytes)
    else {
        return;
    };
    let kind = Kind::new("apps", "v1", "Deployment");
    let schema = Schema::builtin()
        .kind(&kind)
        .expect("Deployment is a built-in kind");
    let result = strategic_merge(&mut target, patch, schema);
    assert!(result.is_err() || target.is_object(), "{target}");
}

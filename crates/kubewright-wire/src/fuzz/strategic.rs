use kubewright_core::Kind;
use serde_json::{Map, Value};

use crate::patch::strategic_merge;
use crate::schema::Schema;

/// A strategic merge patch of a Deployment is carried out or refused, and leaves an object. The
/// input is a list of two: the object and the patch.
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
    let schema = Schema::builtin().kind(&kind);
    let schema = schema.expect("a Deployment is a kind of Kubernetes");
    let done = strategic_merge(&mut target, patch, schema);
    assert!(done.is_err() || target.is_object(), "{target}");
}

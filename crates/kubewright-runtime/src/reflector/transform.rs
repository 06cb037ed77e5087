use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use kubewright_core::Kind;
use kubewright_wire::record::{Encoder, EncoderOptions, Record, RecordError};
use serde_json::Value;

use super::intake::kept_as;
use crate::panic_message::panic_message;

/// What identifies an object and its state: no transform changes it.
const IDENTITY: [&str; 4] = ["name", "namespace", "uid", "resourceVersion"];

/// A change to each object of a kind before it is stored, such as leaving out what nobody reads.
///
/// It is made for every state of an object, those included that the process's own writes are
/// answered with, so that equal states stay equal: it must depend on the object alone. Where only
/// some fields are of use, a projection ([`Content`](super::Content)) costs less. Of an object for
/// which it panics, or of which it leaves no JSON object, only the metadata that tells which it is
/// is kept, never what it was to change.
#[derive(Clone)]
pub struct Transform(Arc<dyn Fn(&mut Value) + Send + Sync>);

impl Transform {
    /// The change that a function makes.
    pub fn new(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        Self(Arc::new(change))
    }

    /// The object after the change; name, namespace, uid and resourceVersion stay what they were.
    pub(super) fn apply(&self, mut object: Value) -> Result<Value, RecordError> {
        let kept: Vec<Option<Value>> = IDENTITY
            .iter()
            .map(|name| object.get("metadata")?.get(name).cloned())
            .collect();
        let changed = catch_unwind(AssertUnwindSafe(|| (self.0)(&mut object)));
        changed.map_err(|panic| {
            let message = panic_message(panic.as_ref());
            RecordError::Transform(format!("the transform panicked: {message}"))
        })?;
        if !object.is_object() {
            let why = "the transform left no object; let it take away fields only";
            return Err(RecordError::Transform(why.to_owned()));
        }
        if !object.get("metadata").is_some_and(Value::is_object) {
            object["metadata"] = Value::Object(serde_json::Map::new());
        }
        for (name, value) in IDENTITY.iter().zip(kept) {
            if let Some(value) = value {
                object["metadata"][*name] = value;
            }
        }
        Ok(object)
    }

    /// What is kept of the object that a write was answered with: as much as of one that a watch
    /// brings. None where it does not say which it is.
    pub(crate) fn apply_to_response(&self, kind: &Kind, answer: &Record) -> Option<Record> {
        if answer.is_stub() {
            return Some(answer.clone());
        }
        let mut encoder = Encoder::new(EncoderOptions {
            field_manager: None,
            kind: Some(kind.clone()),
        });
        let object = answer.to_value();
        let changed = self.apply(object.clone());
        let changed = changed.and_then(|changed| encoder.encode_changed(answer, &changed));
        let kept = changed.or_else(|cause| {
            let json = object.to_string();
            kept_as(encoder.encode_stub(json.as_bytes()), cause)
        });
        kept.ok()
    }
}

impl fmt::Debug for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transform").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Transform;

    #[test]
    fn an_object_stays_the_same_one_whatever_is_changed() {
        let object = json!({"metadata": {"name": "a", "uid": "1"}, "data": {"k": "v"}});
        let strip = Transform::new(|object| {
            object.as_object_mut().map(|fields| fields.remove("data"));
        });
        assert_eq!(
            strip.apply(object.clone()).unwrap(),
            json!({"metadata": {"name": "a", "uid": "1"}})
        );
        let wild = Transform::new(|object| *object = json!({"metadata": Value::Null}));
        assert_eq!(
            wild.apply(object).unwrap(),
            json!({"metadata": {"name": "a", "uid": "1"}})
        );
    }

    #[test]
    fn a_transform_that_panics_or_leaves_no_object_is_an_error() {
        let object = json!({"metadata": {"name": "a"}, "data": "secret"});
        let bare = Transform::new(|_| panic!("no data"));
        let error = bare.apply(object.clone()).unwrap_err().to_string();
        assert!(error.ends_with("panicked: no data"), "{error}");
        for nothing in [json!(null), json!([]), json!("x")] {
            let change = Transform::new(move |object| *object = nothing.clone());
            let error = change.apply(object.clone()).unwrap_err().to_string();
            assert!(error.contains("left no object"), "{error}");
        }
    }
}

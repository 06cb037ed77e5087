//! Changes to objects before they are stored.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use kubewright_core::Kind;
use kubewright_wire::record::{Encoder, EncoderOptions, Record, RecordError};
use serde_json::Value;

use super::stub::stub_for;
use crate::panic_message::panic_message;

/// The fields that identify an object and its state. A transform cannot change them.
const IDENTITY: [&str; 4] = ["name", "namespace", "uid", "resourceVersion"];

/// A change to each object of a kind before it is stored, such as removing unused fields.
///
/// It is applied to every state of an object, the responses to the process's own writes included,
/// so that equal states stay equal. It must depend on the object alone. Where only some fields are
/// used, a projection ([`Content`](super::Content)) costs less. If it panics, or its result is not a
/// JSON object, only the identifying metadata of the object is kept, never the untransformed
/// fields.
#[derive(Clone)]
pub struct Transform(Arc<dyn Fn(&mut Value) + Send + Sync>);

impl Transform {
    /// A transform by a function that modifies the object.
    pub fn new(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        Self(Arc::new(change))
    }

    /// The transformed object. Name, namespace, uid and resourceVersion are restored.
    pub(super) fn apply(&self, mut object: Value) -> Result<Value, RecordError> {
        let identity: Vec<Option<Value>> = IDENTITY
            .iter()
            .map(|name| object.get("metadata")?.get(name).cloned())
            .collect();
        catch_unwind(AssertUnwindSafe(|| (self.0)(&mut object))).map_err(|panic| {
            let message = panic_message(panic.as_ref());
            RecordError::Transform(format!("the transform panicked: {message}"))
        })?;
        if !object.is_object() {
            let why = "the result of the transform is not an object; remove only fields";
            return Err(RecordError::Transform(why.to_owned()));
        }
        if !object.get("metadata").is_some_and(Value::is_object) {
            object["metadata"] = Value::Object(serde_json::Map::new());
        }
        for (name, value) in IDENTITY.iter().zip(identity) {
            if let Some(value) = value {
                object["metadata"][*name] = value;
            }
        }
        Ok(object)
    }

    /// The record of the response to a write, equal to the record that a watch would deliver. None
    /// where the response does not identify the object.
    pub(crate) fn apply_to_response(&self, kind: &Kind, response: &Record) -> Option<Record> {
        if response.is_stub() {
            return Some(response.clone());
        }
        let mut encoder = Encoder::new(EncoderOptions {
            field_manager: None,
            kind: Some(kind.clone()),
        });
        let object = response.to_value();
        self.apply(object.clone())
            .and_then(|changed| encoder.encode_changed(response, &changed))
            .or_else(|cause| {
                let json = object.to_string();
                stub_for(encoder.encode_stub(json.as_bytes()), cause)
            })
            .ok()
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
    fn transform_cannot_change_the_identity_of_an_object() {
        let object = json!({"metadata": {"name": "a", "uid": "1"}, "data": {"k": "v"}});
        let strip = Transform::new(|object| {
            object.as_object_mut().map(|fields| fields.remove("data"));
        });
        assert_eq!(
            strip.apply(object.clone()).unwrap(),
            json!({"metadata": {"name": "a", "uid": "1"}})
        );
        let replacing = Transform::new(|object| *object = json!({"metadata": Value::Null}));
        assert_eq!(
            replacing.apply(object).unwrap(),
            json!({"metadata": {"name": "a", "uid": "1"}})
        );
    }

    #[test]
    fn transform_that_panics_or_results_in_no_object_is_an_error() {
        let object = json!({"metadata": {"name": "a"}, "data": "secret"});
        let panicking = Transform::new(|_| panic!("no data"));
        let error = panicking.apply(object.clone()).unwrap_err().to_string();
        assert!(error.ends_with("panicked: no data"), "{error}");
        for nothing in [json!(null), json!([]), json!("x")] {
            let change = Transform::new(move |object| *object = nothing.clone());
            let error = change.apply(object.clone()).unwrap_err().to_string();
            assert!(error.contains("is not an object"), "{error}");
        }
    }
}

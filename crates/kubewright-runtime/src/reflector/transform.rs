use std::fmt;
use std::sync::Arc;

use serde_json::Value;

/// What identifies an object and its state: no transform changes it.
const IDENTITY: [&str; 4] = ["name", "namespace", "uid", "resourceVersion"];

/// A change to each object of a kind before it is stored, such as leaving out what nobody reads.
///
/// It is made for every state of an object, so that equal states stay equal: it must depend on
/// the object alone. Where only some fields are of use, a projection
/// ([`Content`](super::Content)) costs less.
#[derive(Clone)]
pub struct Transform(Arc<dyn Fn(&mut Value) + Send + Sync>);

impl Transform {
    /// The change that a function makes.
    pub fn new(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        Self(Arc::new(change))
    }

    /// The object after the change; name, namespace, uid and resourceVersion stay what they were.
    pub(super) fn apply(&self, mut object: Value) -> Value {
        let kept: Vec<Option<Value>> = IDENTITY
            .iter()
            .map(|name| object.get("metadata")?.get(name).cloned())
            .collect();
        (self.0)(&mut object);
        if !object.get("metadata").is_some_and(Value::is_object) {
            object["metadata"] = Value::Object(serde_json::Map::new());
        }
        for (name, value) in IDENTITY.iter().zip(kept) {
            if let Some(value) = value {
                object["metadata"][*name] = value;
            }
        }
        object
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
            strip.apply(object.clone()),
            json!({"metadata": {"name": "a", "uid": "1"}})
        );
        let wild = Transform::new(|object| *object = json!({"metadata": Value::Null}));
        assert_eq!(
            wild.apply(object),
            json!({"metadata": {"name": "a", "uid": "1"}})
        );
    }
}

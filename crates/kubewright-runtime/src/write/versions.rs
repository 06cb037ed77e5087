//! An object before and after a change.

use kubewright_wire::patch::rebase;
use serde_json::{Value, json};

use super::difference::difference;

/// An object, or a part of it, before and after a change, as serialized by the caller's type.
pub(super) struct Versions {
    pub(super) before: Value,
    pub(super) after: Value,
}

impl Versions {
    /// Whether both have the same name and namespace.
    pub(super) fn have_same_key(&self) -> bool {
        let key = |value: &Value| {
            let metadata = &value["metadata"];
            [metadata["namespace"].clone(), metadata["name"].clone()]
        };
        key(&self.before) == key(&self.after)
    }

    /// Removes and returns `.status`, which needs a request of its own.
    pub(super) fn take_status(&mut self) -> Self {
        Self {
            before: take_status(&mut self.before),
            after: take_status(&mut self.after),
        }
    }

    /// The merge patch that makes the change to `raw`, which can have fields that the type does not
    /// have. `None` when nothing differs.
    pub(super) fn patch_of(&self, raw: &Value) -> Option<Value> {
        difference(raw, &rebase(raw, &self.before, &self.after))
    }
}

/// Removes and returns `.status`, or an empty object if there is none.
pub(super) fn take_status(object: &mut Value) -> Value {
    object
        .as_object_mut()
        .and_then(|fields| fields.remove("status"))
        .filter(Value::is_object)
        .unwrap_or_else(|| json!({}))
}

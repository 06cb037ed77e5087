use kubewright_wire::patch::rebase;
use serde_json::{Value, json};

use super::difference::difference;

/// An object, or a part of it, before and after the change, as the caller's type writes it.
pub(super) struct Versions {
    pub(super) before: Value,
    pub(super) after: Value,
}

impl Versions {
    /// Whether both have the same name and namespace.
    pub(super) fn is_in_place(&self) -> bool {
        let place = |value: &Value| {
            let metadata = &value["metadata"];
            [metadata["namespace"].clone(), metadata["name"].clone()]
        };
        place(&self.before) == place(&self.after)
    }

    /// What stands below `.status`, which is written by itself.
    pub(super) fn take_status(&mut self) -> Self {
        Self {
            before: take_status(&mut self.before),
            after: take_status(&mut self.after),
        }
    }

    /// The merge patch that does the same to `raw`, where what the type does not know is, too.
    pub(super) fn onto(&self, raw: &Value) -> Option<Value> {
        difference(raw, &rebase(raw, &self.before, &self.after))
    }
}

/// Takes what stands below `.status` out of an object; nothing is an empty one.
pub(super) fn take_status(object: &mut Value) -> Value {
    let fields = object.as_object_mut();
    let status = fields.and_then(|fields| fields.remove("status"));
    let status = status.filter(Value::is_object);
    status.unwrap_or_else(|| json!({}))
}

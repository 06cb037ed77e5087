use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;
use serde_json::{Map, Value, json};

use super::intent::without_nulls;
use super::request::ObjectRequest;
use super::{Target, WriteError, Writer};

/// A status as it was read, and as it is to be.
#[derive(Clone, Copy, Debug)]
pub struct StatusChange<'a> {
    /// Whose status.
    pub key: &'a ObjectKey,
    /// The resourceVersion of the object that was read.
    pub resource_version: &'a str,
    /// What stood below `.status`; null when there was nothing.
    pub old: &'a Value,
    /// What is to stand there.
    pub new: &'a Value,
}

impl Writer {
    /// Changes what differs between the two statuses, by a merge patch that holds only while the
    /// object is the one that was read; none when nothing differs.
    ///
    /// Fields that are in neither are left alone. An object that has changed since is a conflict:
    /// read it and compute the status again.
    ///
    /// # Cancel safety
    ///
    /// As [`Writer::apply`].
    pub async fn patch_status(
        &self,
        target: Target<'_>,
        change: StatusChange<'_>,
    ) -> Result<Option<Record>, WriteError> {
        let Some(difference) = difference(change.old, change.new) else {
            return Ok(None);
        };
        let request = ObjectRequest {
            resource: target.resource,
            key: change.key,
            subresource: "status",
            verb: "patch",
        };
        let body = json!({
            "metadata": {"resourceVersion": change.resource_version},
            "status": difference,
        });
        let answer = request
            .merge(&self.client, &self.manager, body.to_string().into_bytes())
            .await?;
        let record = self.read(&request, &answer)?;
        tracing::debug!(revision = ?record.revision(), "{}", request.what());
        if let Some(store) = target.store {
            store.note_write(change.key.clone(), record.clone());
        }
        Ok(Some(record))
    }
}

/// The merge patch (RFC 7386) that makes `new` of `old`; none when nothing differs. A member that
/// is null is one that is not there.
fn difference(old: &Value, new: &Value) -> Option<Value> {
    let members = |value: &Value| match without_nulls(value.clone()) {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    let patch = member_difference(&members(old), members(new));
    (!patch.is_empty()).then_some(Value::Object(patch))
}

fn member_difference(old: &Map<String, Value>, new: Map<String, Value>) -> Map<String, Value> {
    let mut patch = Map::new();
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, value) in new {
        match (old.get(&name), value) {
            (Some(former), value) if *former == value => {}
            (Some(Value::Object(former)), Value::Object(members)) => {
                let inner = member_difference(former, members);
                patch.insert(name, Value::Object(inner));
            }
            (_, value) => {
                patch.insert(name, value);
            }
        }
    }
    patch
}

#[cfg(test)]
mod tests {
    use kubewright_wire::patch::merge;
    use serde_json::{Value, json};

    use super::difference;

    #[test]
    fn the_patch_names_what_differs_and_nothing_else() {
        let old = json!({"a": 1, "gone": 2, "in": {"x": 1, "y": 2}, "list": [1], "same": [{}]});
        let new = json!({"a": 3, "in": {"x": 1, "z": null}, "list": [1, 2], "same": [{}], "n": {}});
        let patch = difference(&old, &new).unwrap();
        assert_eq!(
            patch,
            json!({"a": 3, "gone": null, "in": {"y": null}, "list": [1, 2], "n": {}})
        );
        let mut patched = json!({"a": 1, "gone": 2, "in": {"x": 1, "y": 2}, "foreign": true});
        merge(&mut patched, &patch);
        assert_eq!(
            patched,
            json!({"a": 3, "in": {"x": 1}, "list": [1, 2], "n": {}, "foreign": true})
        );
    }

    #[test]
    fn equal_statuses_need_no_patch() {
        assert_eq!(
            difference(&json!({"a": 1}), &json!({"a": 1, "b": null})),
            None
        );
        assert_eq!(difference(&Value::Null, &json!({})), None);
        let first = json!({"a": 0});
        assert_eq!(difference(&Value::Null, &first), Some(first));
    }
}

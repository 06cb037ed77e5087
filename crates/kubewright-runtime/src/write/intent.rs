//! The fields of an object that a field manager applies.

use kubewright_core::{ObjectKey, OwnerReference, Resource, Scope};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::WriteError;

/// The desired state of an object: the fields that a field manager owns, and no others.
#[derive(Clone, Debug, PartialEq)]
pub struct Intent {
    key: ObjectKey,
    body: Map<String, Value>,
}

impl Intent {
    /// The intent to apply `object`, in `namespace` unless it has a namespace.
    ///
    /// Nulls are removed: an absent field is not owned, a null field would be. An object that was
    /// read from a cluster is invalid, because the manager would own all of its fields.
    pub fn new(
        resource: &Resource,
        object: &impl Serialize,
        namespace: Option<&str>,
    ) -> Result<Self, WriteError> {
        Self::for_verb("apply", resource, object, namespace)
    }

    /// The intent of another operation than apply. Errors contain the verb.
    pub(super) fn for_verb(
        verb: &'static str,
        resource: &Resource,
        object: &impl Serialize,
        namespace: Option<&str>,
    ) -> Result<Self, WriteError> {
        let what = || format!("{verb} {}", resource.qualified_name());
        let value = serde_json::to_value(object).map_err(|source| WriteError::Serialize {
            what: what(),
            source,
        })?;
        let Some(Value::Object(mut body)) = without_nulls(value) else {
            return Err(invalid(what(), "it is not an object"));
        };
        let metadata = body
            .entry("metadata")
            .or_insert_with(|| json!({}))
            .as_object_mut()
            .ok_or_else(|| invalid(what(), "its metadata is not an object"))?;
        let Some(name) = text(metadata, "name") else {
            return Err(invalid(
                what(),
                "it has no metadata.name; set one that follows from its purpose, so that the next \
                 run finds the same object",
            ));
        };
        for read in ["uid", "resourceVersion", "managedFields"] {
            if metadata.contains_key(read) {
                return Err(invalid(
                    format!("{} {name}", what()),
                    format!(
                        "metadata.{read} is set, so it was read from the cluster; build a new \
                         object with only the fields that the manager owns"
                    ),
                ));
            }
        }
        let key = match resource.scope {
            Scope::Cluster => {
                metadata.remove("namespace");
                ObjectKey::cluster_scoped(&name)
            }
            Scope::Namespaced => {
                let namespace = text(metadata, "namespace").or(namespace.map(str::to_owned));
                let Some(namespace) = namespace else {
                    return Err(invalid(
                        format!("{} {name}", what()),
                        "it has no metadata.namespace, and neither has its owner",
                    ));
                };
                metadata.insert("namespace".to_owned(), json!(namespace));
                ObjectKey::namespaced(&namespace, &name)
            }
        };
        if ![Some(key.name()), key.namespace()]
            .into_iter()
            .flatten()
            .all(is_path_segment)
        {
            return Err(invalid(format!("{} {key}", what()), INVALID_PATH_SEGMENT));
        }
        body.insert("apiVersion".to_owned(), json!(resource.kind.api_version()));
        body.insert("kind".to_owned(), json!(resource.kind.kind));
        // A status is written through its subresource; the API server would ignore it here.
        body.remove("status");
        Ok(Self { key, body })
    }

    /// Adds `owner` to the owner references.
    pub fn owned_by(mut self, owner: &OwnerReference) -> Self {
        let references = self
            .body
            .get_mut("metadata")
            .and_then(Value::as_object_mut)
            .map(|metadata| metadata.entry("ownerReferences").or_insert(json!([])))
            .and_then(Value::as_array_mut);
        if let Some(references) = references {
            references.retain(|reference| reference["uid"] != owner.uid.as_str());
            references.push(json!(owner));
        }
        self
    }

    /// The key of the object.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    /// The fields of the object.
    pub fn body(&self) -> &Map<String, Value> {
        &self.body
    }
}

fn invalid(what: impl Into<String>, why: impl Into<String>) -> WriteError {
    WriteError::Invalid {
        what: what.into(),
        why: why.into(),
    }
}

/// The error of a name or namespace that is not a path segment.
pub(super) const INVALID_PATH_SEGMENT: &str =
    "a name or namespace must not be empty, . or .., and must not contain any of / ? # %";

/// Whether a name can be a segment of the request path without changing the path's meaning.
pub(super) fn is_path_segment(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '?', '#', '%'])
}

fn text(object: &Map<String, Value>, field: &str) -> Option<String> {
    let text = object.get(field)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// Removes null members. Nulls in lists are kept, because their position is significant.
pub(super) fn without_nulls(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Object(members) => Some(Value::Object(
            members
                .into_iter()
                .filter_map(|(name, member)| Some((name, without_nulls(member)?)))
                .collect(),
        )),
        Value::Array(elements) => Some(Value::Array(
            elements
                .into_iter()
                .map(|element| without_nulls(element).unwrap_or(Value::Null))
                .collect(),
        )),
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::{Kind, OwnerReference, Resource, Scope};
    use serde_json::{Value, json};

    use super::Intent;

    fn pods() -> Resource {
        Resource::new(Kind::new("", "v1", "Pod"), "pods", Scope::Namespaced)
    }

    fn intent(object: Value) -> Result<Intent, String> {
        Intent::new(&pods(), &object, Some("web")).map_err(|error| error.to_string())
    }

    #[test]
    fn nulls_and_status_are_removed_and_the_default_namespace_is_set() {
        let intent = intent(json!({
            "metadata": {"name": "a", "labels": null},
            "spec": {"nodeName": null, "containers": [{"name": "app", "image": null}]},
            "status": {},
        }))
        .unwrap();
        assert_eq!(intent.key().to_string(), "web/a");
        assert_eq!(
            json!(intent.body()),
            json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "a", "namespace": "web"},
                "spec": {"containers": [{"name": "app"}]},
            })
        );
    }

    #[test]
    fn object_that_was_read_from_the_cluster_is_invalid() {
        for field in ["uid", "resourceVersion", "managedFields"] {
            let error = intent(json!({"metadata": {"name": "a", field: "1"}})).unwrap_err();
            assert!(
                error.contains(&format!("metadata.{field} is set")),
                "{error}"
            );
        }
        let error = intent(json!({"metadata": {"generateName": "a-"}})).unwrap_err();
        assert!(error.contains("no metadata.name"), "{error}");
    }

    #[test]
    fn name_that_is_not_a_path_segment_is_invalid() {
        for name in ["a/status", "a?force", "a#b", "a%2Fb", ".", ".."] {
            for metadata in [
                json!({"name": name}),
                json!({"name": "a", "namespace": name}),
            ] {
                let error = intent(json!({"metadata": metadata})).unwrap_err();
                assert!(error.contains("any of / ? # %"), "{error}");
            }
        }
        assert!(intent(json!({"metadata": {"name": "system:a.b-c"}})).is_ok());
    }

    #[test]
    fn owner_is_referenced_once() {
        let owner = OwnerReference::controller(&Kind::new("ex.io", "v1", "Set"), "s", "u");
        let intent = intent(json!({"metadata": {"name": "a"}})).unwrap();
        let intent = intent.owned_by(&owner).owned_by(&owner);
        assert_eq!(
            intent.body()["metadata"]["ownerReferences"],
            json!([{
                "apiVersion": "ex.io/v1", "kind": "Set", "name": "s", "uid": "u",
                "controller": true, "blockOwnerDeletion": true,
            }])
        );
    }
}

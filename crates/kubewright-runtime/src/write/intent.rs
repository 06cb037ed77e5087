use kubewright_core::{ObjectKey, OwnerReference, Resource, Scope};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::WriteError;

/// An object as a manager wants it: the fields it means to own, and nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Intent {
    key: ObjectKey,
    body: Map<String, Value>,
}

impl Intent {
    /// The intent to have `object`, in `namespace` unless it names its own.
    ///
    /// Nulls are dropped: an absent field is not owned, a null one would be. An object that was
    /// read from a cluster is refused, because applying it would claim every field of it.
    pub fn new(
        resource: &Resource,
        object: &impl Serialize,
        namespace: Option<&str>,
    ) -> Result<Self, WriteError> {
        Self::to("apply", resource, object, namespace)
    }

    /// The same for what else may be meant; errors use the verb.
    pub(super) fn to(
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
            return Err(refused(what(), "it is not an object"));
        };
        let metadata = body
            .entry("metadata")
            .or_insert_with(|| json!({}))
            .as_object_mut()
            .ok_or_else(|| refused(what(), "its metadata is not an object"))?;
        let Some(name) = text(metadata, "name") else {
            return Err(refused(
                what(),
                "it has no metadata.name; give it one that follows from its purpose, so that the \
                 next run finds the same object",
            ));
        };
        for read in ["uid", "resourceVersion", "managedFields"] {
            if metadata.contains_key(read) {
                return Err(refused(
                    format!("{} {name}", what()),
                    format!(
                        "metadata.{read} is set, so it was read from the cluster; build a new \
                         object with only the fields that you mean to own"
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
                    return Err(refused(
                        format!("{} {name}", what()),
                        "it has no metadata.namespace, and its owner has none to lend",
                    ));
                };
                metadata.insert("namespace".to_owned(), json!(namespace));
                ObjectKey::namespaced(&namespace, &name)
            }
        };
        if ![Some(key.name()), key.namespace()]
            .into_iter()
            .flatten()
            .all(fits_a_path)
        {
            return Err(refused(format!("{} {key}", what()), UNFIT));
        }
        body.insert("apiVersion".to_owned(), json!(resource.kind.api_version()));
        body.insert("kind".to_owned(), json!(resource.kind.kind));
        // A status is written through its subresource; the API server would ignore it here.
        body.remove("status");
        Ok(Self { key, body })
    }

    /// The same with `owner` among its owner references.
    pub fn owned_by(mut self, owner: &OwnerReference) -> Self {
        let references = self
            .body
            .get_mut("metadata")
            .and_then(Value::as_object_mut)
            .map(|metadata| metadata.entry("ownerReferences").or_insert(json!([])))
            .and_then(Value::as_array_mut);
        if let Some(references) = references {
            references.retain(|one| one["uid"] != owner.uid.as_str());
            references.push(json!(owner));
        }
        self
    }

    /// Which object is meant.
    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    /// Its fields.
    pub fn body(&self) -> &Map<String, Value> {
        &self.body
    }
}

fn refused(what: impl Into<String>, why: impl Into<String>) -> WriteError {
    WriteError::Invalid {
        what: what.into(),
        why: why.into(),
    }
}

/// Why an object of such a name is not asked for.
pub(super) const UNFIT: &str =
    "a name or namespace is not empty, neither . nor .., and has none of / ? # %";

/// Whether a request for the object would name this object and no other.
pub(super) fn fits_a_path(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '?', '#', '%'])
}

fn text(object: &Map<String, Value>, field: &str) -> Option<String> {
    let text = object.get(field)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// The value without members that are null; a null in a list stays, its place has a meaning.
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
    fn nulls_and_status_are_not_owned_and_the_namespace_is_lent() {
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
    fn an_object_that_was_read_is_refused() {
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
    fn a_name_that_would_lead_elsewhere_is_refused() {
        for name in ["a/status", "a?force", "a#b", "a%2Fb", ".", ".."] {
            for metadata in [
                json!({"name": name}),
                json!({"name": "a", "namespace": name}),
            ] {
                let error = intent(json!({"metadata": metadata})).unwrap_err();
                assert!(error.contains("none of / ? # %"), "{error}");
            }
        }
        assert!(intent(json!({"metadata": {"name": "system:a.b-c"}})).is_ok());
    }

    #[test]
    fn an_owner_is_named_once() {
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

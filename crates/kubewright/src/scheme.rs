//! Types by kind: decodes objects whose kind is known only from their text.

use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::fmt;

use kubewright_core::{Kind, Resource};
use serde_json::Value;

use crate::kinds::{TypedKind, resource_of};
use crate::{Error, Result};

/// Maps kinds to types and types to kinds, for programs that decode objects by the `apiVersion` and
/// `kind` in their text.
///
/// ```
/// use kubewright::prelude::*;
/// use kubewright::{Kind, Scheme};
///
/// let scheme = Scheme::default().with::<ConfigMap>().with::<Deployment>();
/// let text = serde_json::json!({
///     "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "letter"},
/// });
/// let object = scheme.decode(text)?;
/// assert!(object.downcast_ref::<ConfigMap>().is_some());
/// assert_eq!(scheme.kind_of::<Deployment>(), Some(&Kind::new("apps", "v1", "Deployment")));
/// assert!(scheme.resource(&Kind::new("", "v1", "Pod")).is_none());
/// # Ok::<(), kubewright::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Scheme {
    entries: BTreeMap<Kind, Entry>,
}

#[derive(Clone)]
struct Entry {
    resource: Resource,
    type_id: TypeId,
    name: &'static str,
    decode: fn(Value) -> Result<Box<dyn Any + Send + Sync>, serde_json::Error>,
}

impl Scheme {
    /// Adds a type. Each version of a kind has a type of its own.
    #[must_use]
    pub fn with<K: TypedKind>(mut self) -> Self {
        let resource = resource_of::<K>();
        let entry = Entry {
            type_id: TypeId::of::<K>(),
            name: type_name::<K>(),
            decode: |value| Ok(Box::new(serde_json::from_value::<K>(value)?)),
            resource: resource.clone(),
        };
        self.entries.insert(resource.kind, entry);
        self
    }

    /// Returns the kind of a type.
    pub fn kind_of<K: TypedKind>(&self) -> Option<&Kind> {
        let mut entries = self.entries.iter();
        let entry = entries.find(|(_, entry)| entry.type_id == TypeId::of::<K>());
        entry.map(|(kind, _)| kind)
    }

    /// Returns the resource of a kind.
    pub fn resource(&self, kind: &Kind) -> Option<&Resource> {
        self.entries.get(kind).map(|entry| &entry.resource)
    }

    /// Returns the versions of a kind that have a type, in order.
    pub fn versions(&self, group: &str, kind: &str) -> Vec<&str> {
        let kinds = self.entries.keys();
        kinds
            .filter(|known| known.group() == group && known.kind == kind)
            .map(Kind::version)
            .collect()
    }

    /// Decodes an object as the type of its kind; `downcast` the result.
    pub fn decode(&self, object: Value) -> Result<Box<dyn Any + Send + Sync>, Error> {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let what = format!("decode {} {}", text("apiVersion"), text("kind"));
        let version = kubewright_core::GroupVersion::from_api_version(&text("apiVersion"));
        let kind = Kind::new(version.group, version.version, text("kind"));
        let Some(entry) = self.entries.get(&kind) else {
            return Err(Error::Invalid {
                what,
                why: "no type is registered for the kind; add it with Scheme::with",
            });
        };
        (entry.decode)(object).map_err(|source| Error::Decode { what, source })
    }
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries.iter();
        f.debug_map()
            .entries(entries.map(|(kind, entry)| (kind, entry.name)))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::autoscaling::{v1, v2};
    use serde_json::json;

    use super::Scheme;

    fn scheme() -> Scheme {
        Scheme::default()
            .with::<v1::HorizontalPodAutoscaler>()
            .with::<v2::HorizontalPodAutoscaler>()
    }

    #[test]
    fn each_version_of_a_kind_has_a_type() {
        let scheme = scheme();
        let versions = scheme.versions("autoscaling", "HorizontalPodAutoscaler");
        assert_eq!(versions, ["v1", "v2"]);
        let object = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"});
        let decoded = scheme.decode(object).unwrap();
        assert!(decoded.is::<v2::HorizontalPodAutoscaler>());
    }

    #[test]
    fn unregistered_kind_and_undecodable_object_are_errors() {
        let missing = json!({"apiVersion": "v1", "kind": "Pod"});
        let error = scheme().decode(missing).unwrap_err().to_string();
        assert!(error.contains("Scheme::with"), "{error}");
        let invalid = json!({
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "spec": 7,
        });
        let error = scheme().decode(invalid).unwrap_err().to_string();
        assert_eq!(
            error,
            "decode autoscaling/v2 HorizontalPodAutoscaler: the object does not match its type"
        );
    }
}

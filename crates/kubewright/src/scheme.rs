use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::fmt;

use kubewright_core::{Kind, Resource};
use serde_json::Value;

use crate::controller::{TypedKind, resource_of};
use crate::{Error, Result};

/// Types by kind and kinds by type, for programs that meet objects of which they know only the
/// `apiVersion` and `kind` that are written in them.
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
    known: BTreeMap<Kind, Entry>,
}

#[derive(Clone)]
struct Entry {
    resource: Resource,
    of: TypeId,
    name: &'static str,
    decode: fn(Value) -> Result<Box<dyn Any + Send + Sync>, serde_json::Error>,
}

impl Scheme {
    /// The same with one more type. Several versions of a kind are several types.
    #[must_use]
    pub fn with<K: TypedKind>(mut self) -> Self {
        let resource = resource_of::<K>();
        let entry = Entry {
            of: TypeId::of::<K>(),
            name: type_name::<K>(),
            decode: |value| Ok(Box::new(serde_json::from_value::<K>(value)?)),
            resource: resource.clone(),
        };
        self.known.insert(resource.kind, entry);
        self
    }

    /// The kind of a type.
    pub fn kind_of<K: TypedKind>(&self) -> Option<&Kind> {
        let mut known = self.known.iter();
        let found = known.find(|(_, entry)| entry.of == TypeId::of::<K>());
        found.map(|(kind, _)| kind)
    }

    /// How a kind is served.
    pub fn resource(&self, kind: &Kind) -> Option<&Resource> {
        self.known.get(kind).map(|entry| &entry.resource)
    }

    /// The versions of a kind that are known, in their order.
    pub fn versions(&self, group: &str, kind: &str) -> Vec<&str> {
        let known = self.known.keys();
        let meant = known.filter(|one| one.group() == group && one.kind == kind);
        meant.map(Kind::version).collect()
    }

    /// The object as a value of the type that is registered for its kind; `downcast` it.
    pub fn decode(&self, object: Value) -> Result<Box<dyn Any + Send + Sync>, Error> {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let what = format!("decode {} {}", text("apiVersion"), text("kind"));
        let version = kubewright_core::GroupVersion::from_api_version(&text("apiVersion"));
        let kind = Kind::new(version.group, version.version, text("kind"));
        let Some(entry) = self.known.get(&kind) else {
            return Err(Error::Refused {
                what,
                why: "no type is registered for the kind; add it with Scheme::with",
            });
        };
        (entry.decode)(object).map_err(|source| Error::Decode { what, source })
    }
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.known.iter();
        let known = known.map(|(kind, entry)| (kind, entry.name));
        f.debug_map().entries(known).finish()
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
    fn each_version_of_a_kind_has_its_type() {
        let scheme = scheme();
        let versions = scheme.versions("autoscaling", "HorizontalPodAutoscaler");
        assert_eq!(versions, ["v1", "v2"]);
        let object = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"});
        let decoded = scheme.decode(object).unwrap();
        assert!(decoded.is::<v2::HorizontalPodAutoscaler>());
    }

    #[test]
    fn what_nobody_registered_and_what_does_not_decode_say_so() {
        let missing = json!({"apiVersion": "v1", "kind": "Pod"});
        let error = scheme().decode(missing).unwrap_err().to_string();
        assert!(error.contains("Scheme::with"), "{error}");
        let broken = json!({
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "spec": 7,
        });
        let error = scheme().decode(broken).unwrap_err().to_string();
        assert_eq!(
            error,
            "decode autoscaling/v2 HorizontalPodAutoscaler: it does not fit its type"
        );
    }
}

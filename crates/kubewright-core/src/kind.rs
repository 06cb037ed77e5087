//! Groups, versions, kinds, and the resources that serve them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An API group and one of its versions; the core group has an empty name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GroupVersion {
    /// The group, empty for the core one.
    pub group: String,
    /// The version within the group.
    pub version: String,
}

impl GroupVersion {
    /// The given version of the given group.
    pub fn new(group: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
        }
    }

    /// Reads an `apiVersion`: `apps/v1` or `v1`.
    pub fn from_api_version(text: &str) -> Self {
        match text.split_once('/') {
            Some((group, version)) => Self::new(group, version),
            None => Self::new("", text),
        }
    }
}

/// Writes the `apiVersion`.
impl fmt::Display for GroupVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.group.is_empty() {
            write!(f, "{}/", self.group)?;
        }
        f.write_str(&self.version)
    }
}

/// A kind in one version of its group, such as `apps/v1 Deployment`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Kind {
    /// The group and version.
    #[serde(flatten)]
    pub group_version: GroupVersion,
    /// The name in the object's `kind` field.
    pub kind: String,
}

impl Kind {
    /// The kind of that name in the given group and version.
    pub fn new(
        group: impl Into<String>,
        version: impl Into<String>,
        kind: impl Into<String>,
    ) -> Self {
        Self {
            group_version: GroupVersion::new(group, version),
            kind: kind.into(),
        }
    }

    /// The group, empty for the core one.
    pub fn group(&self) -> &str {
        &self.group_version.group
    }

    /// The version within the group.
    pub fn version(&self) -> &str {
        &self.group_version.version
    }

    /// The `apiVersion` of objects of this kind.
    pub fn api_version(&self) -> String {
        self.group_version.to_string()
    }
}

/// As Kubernetes prints it: `apps/v1, Kind=Deployment`; the core group as `/v1, Kind=Pod`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group(), self.version(), self.kind)
    }
}

/// Whether objects of a kind are in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scope {
    /// One set of objects for the whole cluster.
    Cluster,
    /// A set of objects per namespace.
    Namespaced,
}

/// A kind together with what a request needs to reach it: its plural name and its scope.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Resource {
    /// The kind of the objects.
    pub kind: Kind,
    /// The plural name in paths and roles, such as `deployments`.
    pub plural: String,
    /// Whether the objects are in namespaces.
    pub scope: Scope,
}

impl Resource {
    /// The resource that serves `kind` under the given plural name.
    pub fn new(kind: Kind, plural: impl Into<String>, scope: Scope) -> Self {
        Self {
            kind,
            plural: plural.into(),
            scope,
        }
    }

    /// The path of the collection: of one namespace, or of the whole cluster when none is given.
    ///
    /// ```
    /// use kubewright_core::{Kind, Resource, Scope};
    ///
    /// let pods = Resource::new(Kind::new("", "v1", "Pod"), "pods", Scope::Namespaced);
    /// assert_eq!(pods.path(Some("web")), "/api/v1/namespaces/web/pods");
    /// assert_eq!(pods.path(None), "/api/v1/pods");
    /// ```
    pub fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.kind.group().is_empty() {
            "/api"
        } else {
            "/apis"
        };
        let group_version = &self.kind.group_version;
        match namespace.filter(|_| self.scope == Scope::Namespaced) {
            Some(namespace) => {
                format!(
                    "{root}/{group_version}/namespaces/{namespace}/{}",
                    self.plural
                )
            }
            None => format!("{root}/{group_version}/{}", self.plural),
        }
    }

    /// `deployments.apps`, or `pods` in the core group: how messages name the resource.
    pub fn qualified_name(&self) -> String {
        match self.kind.group() {
            "" => self.plural.clone(),
            group => format!("{}.{group}", self.plural),
        }
    }
}

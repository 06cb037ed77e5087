//! Owner references of objects.

use serde::{Deserialize, Serialize};

use crate::kind::{GroupVersion, Kind};

/// One entry of `metadata.ownerReferences`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerReference {
    /// The owner's `apiVersion`.
    pub api_version: String,
    /// The owner's `kind`.
    pub kind: String,
    /// The owner's name; its namespace is the dependent's own, or none.
    pub name: String,
    /// The owner's uid: an object of the same name with another uid is not the owner.
    pub uid: String,
    /// Whether this owner is the managing controller; at most one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// Whether a foreground deletion of the owner waits for this dependent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
}

impl OwnerReference {
    /// The reference that makes the named object the managing controller.
    pub fn controller(kind: &Kind, name: impl Into<String>, uid: impl Into<String>) -> Self {
        Self {
            api_version: kind.api_version(),
            kind: kind.kind.clone(),
            name: name.into(),
            uid: uid.into(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }

    /// The owner's kind.
    pub fn owner_kind(&self) -> Kind {
        Kind {
            group_version: GroupVersion::from_api_version(&self.api_version),
            kind: self.kind.clone(),
        }
    }

    /// Whether this owner is the managing controller.
    pub fn is_controller(&self) -> bool {
        self.controller == Some(true)
    }
}

//! Adoption and release of the objects that a controller selects.

use std::sync::Arc;

use kubewright_apiserver::store::Object;
use kubewright_core::{LabelSelector, OwnerReference, Resource};
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::client::Client;
use super::owner_index::controller_of;
use super::selector::selects;

/// An owner and the objects that it selects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim<'a> {
    pub(crate) owner: &'a Object,
    pub(crate) owner_resource: &'a Resource,
    pub(crate) selector: &'a LabelSelector,
    /// The resource of the selected objects.
    pub(crate) resource: &'a Resource,
}

impl Claim<'_> {
    /// The owner reference that makes the owner the controller of an object.
    pub(crate) fn reference(&self) -> OwnerReference {
        let kind = &self.owner_resource.kind;
        OwnerReference::controller(kind, self.owner.name(), self.owner.uid())
    }

    /// Returns the objects that belong to the owner. Orphans that match are adopted, owned objects
    /// that no longer match are released (`ClaimObject` of
    /// pkg/controller/controller_ref_manager.go).
    pub(crate) async fn claim(
        &self,
        client: &Client,
        objects: impl Iterator<Item = Arc<Object>>,
    ) -> Result<Vec<Arc<Object>>, Status> {
        let mut claimed = Vec::new();
        for object in objects {
            let matches = selects(self.selector, object.value());
            match controller_of(&object) {
                Some(owner) if owner.uid != self.owner.uid() => {}
                Some(_) if matches => claimed.push(object),
                Some(_) if self.owner.is_terminating() => {}
                Some(_) => self.release(client, &object).await?,
                None if matches && !self.owner.is_terminating() && !object.is_terminating() => {
                    self.adopt(client, &object).await?;
                    claimed.push(object);
                }
                None => {}
            }
        }
        Ok(claimed)
    }

    async fn adopt(&self, client: &Client, object: &Object) -> Result<(), Status> {
        let mut owners = object.owner_references();
        owners.push(self.reference());
        self.set_owners(client, object, &owners).await
    }

    async fn release(&self, client: &Client, object: &Object) -> Result<(), Status> {
        let mut owners = object.owner_references();
        owners.retain(|owner| owner.uid != self.owner.uid());
        self.set_owners(client, object, &owners).await
    }

    async fn set_owners(
        &self,
        client: &Client,
        object: &Object,
        owners: &[OwnerReference],
    ) -> Result<(), Status> {
        let references = match owners {
            [] => Value::Null,
            owners => json!(owners),
        };
        let patch = json!({"metadata": {
            "uid": object.uid(),
            "resourceVersion": object.revision().to_string(),
            "ownerReferences": references,
        }});
        client.patch(self.resource, object, patch).await
    }
}

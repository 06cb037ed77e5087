use std::sync::Arc;

use kubewright_core::{LabelSelector, OwnerReference, Resource};
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::Client;
use super::owned::controller_of;
use super::selection::selects;
use kubewright_apiserver::store::Object;

/// Who claims objects, and which.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim<'a> {
    pub(super) owner: &'a Object,
    pub(super) owner_resource: &'a Resource,
    pub(super) selector: &'a LabelSelector,
    /// The resource of what is claimed.
    pub(super) resource: &'a Resource,
}

impl Claim<'_> {
    /// The reference that makes the owner the controller of what it claims.
    pub(super) fn reference(&self) -> OwnerReference {
        let kind = &self.owner_resource.kind;
        OwnerReference::controller(kind, self.owner.name(), self.owner.uid())
    }

    /// Those of the objects that are the owner's: orphans that match are adopted, and its own that
    /// no longer match are let go (`ClaimObject` of pkg/controller/controller_ref_manager.go).
    pub(super) async fn take(
        &self,
        cluster: &Client,
        objects: impl Iterator<Item = Arc<Object>>,
    ) -> Result<Vec<Arc<Object>>, Status> {
        let mut claimed = Vec::new();
        for object in objects {
            let matches = selects(self.selector, object.value());
            match controller_of(&object) {
                Some(owner) if owner.uid != self.owner.uid() => {}
                Some(_) if matches => claimed.push(object),
                Some(_) if self.owner.is_terminating() => {}
                Some(_) => self.release(cluster, &object).await?,
                None if matches && !self.owner.is_terminating() && !object.is_terminating() => {
                    self.adopt(cluster, &object).await?;
                    claimed.push(object);
                }
                None => {}
            }
        }
        Ok(claimed)
    }

    async fn adopt(&self, cluster: &Client, object: &Object) -> Result<(), Status> {
        let mut owners = object.owner_references();
        owners.push(self.reference());
        self.set_owners(cluster, object, &owners).await
    }

    async fn release(&self, cluster: &Client, object: &Object) -> Result<(), Status> {
        let mut owners = object.owner_references();
        owners.retain(|owner| owner.uid != self.owner.uid());
        self.set_owners(cluster, object, &owners).await
    }

    async fn set_owners(
        &self,
        cluster: &Client,
        object: &Object,
        owners: &[OwnerReference],
    ) -> Result<(), Status> {
        let owners = match owners {
            [] => Value::Null,
            owners => json!(owners),
        };
        let patch = json!({"metadata": {
            "uid": object.uid(),
            "resourceVersion": object.revision().to_string(),
            "ownerReferences": owners,
        }});
        cluster.patch(self.resource, object, patch).await
    }
}

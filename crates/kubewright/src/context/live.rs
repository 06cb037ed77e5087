//! Reads past the cache.

use std::fmt;

use kube::Client;
use kube::api::ListParams;
use kube::core::{ObjectList, Request};
use kubewright_core::{ObjectKey, Resource, Scope};
use kubewright_runtime::NamespaceSet;

use super::Name;
use crate::kinds::{AnyKind, TypedKind, resource_of};
use crate::{Error, Result};

/// Reads from the API server, past the cache; from [`Context::live`](super::Context::live).
///
/// Each call sends a request. Use it where only the newest state is correct and a retry is not.
#[derive(Clone)]
pub struct Live {
    client: Client,
    namespace: Option<String>,
    /// The namespaces that the operator is restricted to.
    namespaces: Option<NamespaceSet>,
}

impl Live {
    pub(super) fn new(
        client: Client,
        namespace: Option<&str>,
        namespaces: Option<NamespaceSet>,
    ) -> Self {
        Self {
            client,
            namespaces,
            namespace: namespace.map(str::to_owned),
        }
    }

    /// Returns the current state of an object, or `None` if it does not exist.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect.
    pub async fn get<'n, W: TypedKind>(&self, name: impl Into<Name<'n>>) -> Result<Option<W>> {
        let resource = resource_of::<W>();
        let key = name.into().key(resource.scope, self.namespace.as_deref());
        self.get_of(&resource, &key).await
    }

    pub(super) async fn get_of<W: AnyKind>(
        &self,
        resource: &Resource,
        key: &ObjectKey,
    ) -> Result<Option<W>> {
        let failed = |source| Error::Live {
            what: format!("{} {key}", resource.qualified_name()),
            source: Box::new(source),
        };
        let request = Request::new(resource.path(key.namespace()))
            .get(key.name(), &Default::default())
            .map_err(|error| failed(kube::Error::BuildRequest(error)))?;
        match self.client.request::<W>(request).await {
            Ok(object) => Ok(Some(object)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(error) => Err(failed(error).into()),
        }
    }

    /// Returns the current state of all objects of a kind, in all namespaces of the operator.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect.
    pub async fn list<W: TypedKind>(&self) -> Result<Vec<W>> {
        let resource = resource_of::<W>();
        let Some(namespaces) = self
            .namespaces
            .as_ref()
            .filter(|_| resource.scope == Scope::Namespaced)
        else {
            return self.list_in(&resource, None).await;
        };
        let mut objects = Vec::new();
        for namespace in namespaces.names() {
            objects.extend(self.list_in(&resource, Some(&namespace)).await?);
        }
        Ok(objects)
    }

    async fn list_in<W: TypedKind>(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
    ) -> Result<Vec<W>> {
        let failed = |source| Error::Live {
            what: resource.qualified_name(),
            source: Box::new(source),
        };
        let request = Request::new(resource.path(namespace))
            .list(&ListParams::default())
            .map_err(|error| failed(kube::Error::BuildRequest(error)))?;
        let list = self.client.request::<ObjectList<W>>(request).await;
        Ok(list.map_err(failed)?.items)
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live")
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

use std::fmt;

use kube::Client;
use kube::api::ListParams;
use kube::core::{ObjectList, Request};
use kubewright_core::{ObjectKey, Resource, Scope};
use kubewright_runtime::NamespaceSet;

use super::Name;
use crate::controller::{AnyKind, TypedKind, resource_of};
use crate::{Error, Result};

/// Reads past the cache; made by [`Context::live`](super::Context::live).
///
/// Each call is a request. Use it where the newest state decides and a retry would be wrong.
#[derive(Clone)]
pub struct Live {
    client: Client,
    namespace: Option<String>,
    /// What the operator is restricted to.
    within: Option<NamespaceSet>,
}

impl Live {
    pub(super) fn new(
        client: Client,
        namespace: Option<&str>,
        within: Option<NamespaceSet>,
    ) -> Self {
        Self {
            client,
            within,
            namespace: namespace.map(str::to_owned),
        }
    }

    /// One object as it is now; none when there is no such object.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
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
        let what = || format!("{} {key}", resource.qualified_name());
        let request = Request::new(resource.path(key.namespace()))
            .get(key.name(), &Default::default())
            .map_err(|error| live(what(), kube::Error::BuildRequest(error)))?;
        match self.client.request::<W>(request).await {
            Ok(object) => Ok(Some(object)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(error) => Err(live(what(), error).into()),
        }
    }

    /// All objects of a kind as they are now, in all namespaces that the operator looks at.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub async fn list<W: TypedKind>(&self) -> Result<Vec<W>> {
        let resource = resource_of::<W>();
        let within = self.within.as_ref();
        let within = within.filter(|_| resource.scope == Scope::Namespaced);
        let Some(within) = within else {
            return self.list_in(&resource, None).await;
        };
        let mut all = Vec::new();
        for namespace in within.names() {
            all.extend(self.list_in(&resource, Some(&namespace)).await?);
        }
        Ok(all)
    }

    async fn list_in<W: TypedKind>(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
    ) -> Result<Vec<W>> {
        let request = Request::new(resource.path(namespace))
            .list(&ListParams::default())
            .map_err(|error| live(resource.qualified_name(), kube::Error::BuildRequest(error)))?;
        let list = self.client.request::<ObjectList<W>>(request).await;
        let list = list.map_err(|error| live(resource.qualified_name(), error))?;
        Ok(list.items)
    }
}

fn live(what: String, source: kube::Error) -> Error {
    Error::Live {
        what,
        source: Box::new(source),
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live")
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

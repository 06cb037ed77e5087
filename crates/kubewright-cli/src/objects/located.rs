//! An object's place in a cluster.

use std::fmt;

use kube::Api;
use kube::api::{ApiResource, DeleteParams, DynamicObject};
use serde_json::Value;

use crate::error::Error;

/// The resource, namespace and name of an object in a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub(crate) resource: ApiResource,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    /// Whether the kind has the subresource `status`.
    pub(crate) reports_status: bool,
}

impl Located {
    /// Whether both are the same object.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.resource.group == other.resource.group
            && self.resource.plural == other.resource.plural
            && self.namespace == other.namespace
            && self.name == other.name
    }

    pub(crate) fn api(&self, client: &kube::Client) -> Api<DynamicObject> {
        match &self.namespace {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &self.resource),
            None => Api::all_with(client.clone(), &self.resource),
        }
    }

    /// Reads the object, if it exists.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(crate) async fn find(&self, client: &kube::Client) -> Result<Option<Value>, Error> {
        let failed = |source| Error::Request {
            action: format!("read {self}"),
            source: Box::new(source),
        };
        let found = self.api(client).get_opt(&self.name).await.map_err(failed)?;
        found
            .map(serde_json::to_value)
            .transpose()
            .map_err(|source| failed(kube::Error::SerdeError(source)))
    }

    /// Deletes the object; returns whether it existed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave the object deleted.
    pub(crate) async fn delete(&self, client: &kube::Client) -> Result<bool, Error> {
        let api = self.api(client);
        match api.delete(&self.name, &DeleteParams::default()).await {
            Ok(_) => Ok(true),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
            Err(source) => Err(Error::Request {
                action: format!("delete {self}"),
                source: Box::new(source),
            }),
        }
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.resource.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

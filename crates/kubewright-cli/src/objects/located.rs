use std::fmt;

use kube::Api;
use kube::api::{ApiResource, DeleteParams, DynamicObject};
use kube::core::GroupVersionKind;
use kube::discovery::{Discovery, Scope};
use serde_json::Value;

use crate::error::Error;

/// An object's place in a cluster: which resource serves it, and under which name.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub(crate) resource: ApiResource,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    reports_status: bool,
}

impl Located {
    /// An object of a resource whose status nobody asks about.
    #[cfg(test)]
    pub(crate) fn new(resource: ApiResource, namespace: Option<&str>, name: &str) -> Self {
        Self {
            resource,
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
            reports_status: false,
        }
    }

    /// Whether the kind has a status that a controller writes.
    pub(crate) fn reports_status(&self) -> bool {
        self.reports_status
    }

    /// Whether both are the same object.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let key = |one: &Self| {
            let resource = &one.resource;
            (
                resource.group.clone(),
                resource.plural.clone(),
                one.namespace.clone(),
                one.name.clone(),
            )
        };
        key(self) == key(other)
    }

    pub(crate) fn api(&self, client: &kube::Client) -> Api<DynamicObject> {
        match &self.namespace {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &self.resource),
            None => Api::all_with(client.clone(), &self.resource),
        }
    }

    /// The object as it is now, if it is there.
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

    /// Deletes the object; whether it was there.
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

/// The kinds that a cluster serves.
pub(crate) struct Kinds {
    client: kube::Client,
    known: Discovery,
}

impl Kinds {
    /// Asks the cluster.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(crate) async fn discover(client: &kube::Client) -> Result<Self, Error> {
        Ok(Self {
            client: client.clone(),
            known: discover(client).await?,
        })
    }

    /// Where the object belongs; the cluster is asked again about a kind that was not known.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(crate) async fn locate(&mut self, object: &Value) -> Result<Located, Error> {
        if let Some(located) = self.resolve(object) {
            return Ok(located);
        }
        self.known = discover(&self.client).await?;
        self.resolve(object).ok_or_else(|| Error::UnknownKind {
            object: format!("{} {}", object["apiVersion"], object["kind"]),
        })
    }

    /// The resource of a kind, when the cluster serves it.
    pub(crate) fn resource(&self, group: &str, version: &str, kind: &str) -> Option<ApiResource> {
        let kind = GroupVersionKind::gvk(group, version, kind);
        self.known.resolve_gvk(&kind).map(|(resource, _)| resource)
    }

    /// The resource of this name, when the cluster serves it.
    pub(crate) fn named(&self, group: &str, plural: &str) -> Option<ApiResource> {
        let served = self.known.get(group)?.recommended_resources();
        let mut served = served.into_iter().map(|(resource, _)| resource);
        served.find(|resource| resource.plural == plural)
    }

    fn resolve(&self, object: &Value) -> Option<Located> {
        let (group, version) = match object["apiVersion"].as_str()?.split_once('/') {
            Some((group, version)) => (group, version),
            None => ("", object["apiVersion"].as_str()?),
        };
        let kind = GroupVersionKind::gvk(group, version, object["kind"].as_str()?);
        let (resource, capabilities) = self.known.resolve_gvk(&kind)?;
        let metadata = &object["metadata"];
        let namespace = (capabilities.scope == Scope::Namespaced).then(|| {
            metadata["namespace"]
                .as_str()
                .unwrap_or("default")
                .to_owned()
        });
        Some(Located {
            resource,
            namespace,
            name: metadata["name"].as_str()?.to_owned(),
            reports_status: capabilities
                .subresources
                .iter()
                .any(|(sub, _)| sub.plural == "status"),
        })
    }
}

async fn discover(client: &kube::Client) -> Result<Discovery, Error> {
    Discovery::new(client.clone())
        .run_aggregated()
        .await
        .map_err(|source| Error::Request {
            action: "ask the cluster which kinds it serves".to_owned(),
            source: Box::new(source),
        })
}

//! The kinds that a cluster serves.

use kube::api::ApiResource;
use kube::core::GroupVersionKind;
use kube::discovery::{Discovery, Scope};
use serde_json::Value;

use super::located::Located;
use crate::error::Error;

/// Group, version and kind.
pub(crate) type KindName = (&'static str, &'static str, &'static str);

/// The kinds that a cluster serves.
pub(crate) struct ServedKinds {
    client: kube::Client,
    discovery: Discovery,
}

impl ServedKinds {
    /// Reads the kinds from the cluster.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(crate) async fn discover(client: &kube::Client) -> Result<Self, Error> {
        Ok(Self {
            client: client.clone(),
            discovery: discover(client).await?,
        })
    }

    /// Returns the place of an object. For an unknown kind, the kinds are read again first.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(crate) async fn locate(&mut self, object: &Value) -> Result<Located, Error> {
        if let Some(located) = self.resolve(object) {
            return Ok(located);
        }
        self.discovery = discover(&self.client).await?;
        self.resolve(object).ok_or_else(|| Error::UnknownKind {
            object: format!("{} {}", object["apiVersion"], object["kind"]),
        })
    }

    /// Returns the resource of a kind, if the cluster serves it.
    pub(crate) fn resource(&self, group: &str, version: &str, kind: &str) -> Option<ApiResource> {
        let kind = GroupVersionKind::gvk(group, version, kind);
        let (resource, _) = self.discovery.resolve_gvk(&kind)?;
        Some(resource)
    }

    /// Returns the resource with a plural name, if the cluster serves it.
    pub(crate) fn with_plural(&self, group: &str, plural: &str) -> Option<ApiResource> {
        let served = self.discovery.get(group)?.recommended_resources();
        let mut resources = served.into_iter().map(|(resource, _)| resource);
        resources.find(|resource| resource.plural == plural)
    }

    fn resolve(&self, object: &Value) -> Option<Located> {
        let api_version = object["apiVersion"].as_str()?;
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let kind = GroupVersionKind::gvk(group, version, object["kind"].as_str()?);
        let (resource, capabilities) = self.discovery.resolve_gvk(&kind)?;
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
            action: "list the kinds that the cluster serves".to_owned(),
            source: Box::new(source),
        })
}

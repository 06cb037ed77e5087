//! Requests the discovery documents of a server.

use std::time::Duration;

use kube::Client;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::Catalog;
use super::aggregated::Aggregated;
use super::documents::{Group, GroupList, GroupVersionName, ResourceList};
use crate::Error;
use crate::client::get_stream;

/// The timeout of a discovery request, as in client-go.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(32);
/// One aggregated document if the server supports it, otherwise the older ones.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                          application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,\
                          application/json";

/// The document of the core group without aggregation.
#[derive(serde::Deserialize)]
struct Versions {
    #[serde(default)]
    versions: Vec<String>,
}

/// Requests the catalog of a server.
pub(super) async fn fetch(client: &Client) -> Result<Catalog, Error> {
    let mut catalog = Catalog {
        groups: GroupList {
            kind: "APIGroupList".to_owned(),
            api_version: "v1".to_owned(),
            groups: Vec::new(),
        },
        lists: Vec::new(),
    };
    for root in ["/api", "/apis"] {
        let bytes = read(client, root, AGGREGATED).await?;
        let aggregated: Aggregated = parse(root, &bytes)?;
        if aggregated.kind == "APIGroupDiscoveryList" {
            aggregated.split(&mut catalog.groups.groups, &mut catalog.lists);
            continue;
        }
        let groups = match root {
            "/api" => core_group(parse::<Versions>(root, &bytes)?),
            _ => parse::<GroupList>(root, &bytes)?.groups,
        };
        for group in groups {
            for version in &group.versions {
                let path = format!("{root}/{}", version.group_version);
                // A version whose aggregated API server is unavailable does not hide the others.
                match read(client, &path, "application/json").await {
                    Ok(bytes) => catalog.lists.push(parse::<ResourceList>(&path, &bytes)?),
                    Err(error) => tracing::warn!(%error, "{path} cannot be discovered"),
                }
            }
            catalog.groups.groups.push(group);
        }
    }
    Ok(catalog)
}

fn core_group(document: Versions) -> Vec<Group> {
    let versions: Vec<_> = document
        .versions
        .into_iter()
        .map(|version| GroupVersionName {
            group_version: version.clone(),
            version,
        })
        .collect();
    let preferred = versions.first().cloned();
    let group = preferred.map(|preferred_version| Group {
        name: String::new(),
        versions,
        preferred_version,
    });
    group.into_iter().collect()
}

/// Returns the body of a response.
pub(super) async fn read(client: &Client, path: &str, accept: &str) -> Result<Vec<u8>, Error> {
    let what = discover(path);
    let deadline = Instant::now() + REQUEST_TIMEOUT;
    let mut response = get_stream(client, &what, path, accept, REQUEST_TIMEOUT).await?;
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk(deadline).await? {
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// The request, for error messages.
fn discover(path: &str) -> String {
    format!("discover the API below {path}")
}

pub(super) fn parse<T: DeserializeOwned>(path: &str, bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|source| Error::Discovery {
        what: discover(path),
        source,
    })
}

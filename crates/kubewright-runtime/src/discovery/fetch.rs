use std::time::Duration;

use kube::Client;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::Catalog;
use super::aggregated::Aggregated;
use super::catalog::{Group, GroupList, GroupVersionName, ResourceList};
use crate::Error;
use crate::client::get_stream;

/// As client-go has it.
const PATIENCE: Duration = Duration::from_secs(32);
/// One answer for everything, where the server can; else the older one.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                          application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,\
                          application/json";

/// What the core group answers without aggregation.
#[derive(serde::Deserialize)]
struct Versions {
    #[serde(default)]
    versions: Vec<String>,
}

/// Asks a server what it serves.
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
        let answer: Aggregated = parse(root, &bytes)?;
        if answer.kind == "APIGroupDiscoveryList" {
            answer.split(&mut catalog.groups.groups, &mut catalog.lists);
            continue;
        }
        let groups = match root {
            "/api" => core_group(parse::<Versions>(root, &bytes)?),
            _ => parse::<GroupList>(root, &bytes)?.groups,
        };
        for group in groups {
            for version in &group.versions {
                let path = format!("{root}/{}", version.group_version);
                // A version whose server is away does not hide the others.
                match read(client, &path, "application/json").await {
                    Ok(bytes) => catalog.lists.push(parse::<ResourceList>(&path, &bytes)?),
                    Err(error) => tracing::warn!(%error, "{path} is not known"),
                }
            }
            catalog.groups.groups.push(group);
        }
    }
    Ok(catalog)
}

fn core_group(answer: Versions) -> Vec<Group> {
    let versions = answer.versions.into_iter().map(|version| GroupVersionName {
        group_version: version.clone(),
        version,
    });
    let versions: Vec<_> = versions.collect();
    let preferred = versions.first().cloned();
    let group = preferred.map(|preferred_version| Group {
        name: String::new(),
        versions,
        preferred_version,
    });
    group.into_iter().collect()
}

pub(super) async fn read(client: &Client, path: &str, accept: &str) -> Result<Vec<u8>, Error> {
    let what = format!("ask what is served below {path}");
    let deadline = Instant::now() + PATIENCE;
    let mut answer = get_stream(client, &what, path, accept, PATIENCE).await?;
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk(deadline).await? {
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

pub(super) fn parse<T: DeserializeOwned>(path: &str, bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|source| Error::Discovery {
        what: format!("ask what is served below {path}"),
        source,
    })
}

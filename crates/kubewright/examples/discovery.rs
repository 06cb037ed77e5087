//! Discovery: finds a kind by any of its names, with a cache in memory and on disk, then reads and
//! writes objects of the found kind.

use std::path::Path;

use kubewright::Clock;
use kubewright::client::{connect, load_config};
use kubewright::kube::Client;
use kubewright::kube::api::{Api, DynamicObject, ListParams, PostParams};
use kubewright::prelude::*;
use kubewright_runtime::discovery::{Discovery, DiskCache};

/// A discovered kind, and the metadata of its objects.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) version: String,
    pub(crate) resource: String,
    pub(crate) all: Vec<String>,
    pub(crate) names: Vec<String>,
    /// The number of schemas in the OpenAPI document of its version.
    pub(crate) schemas: usize,
}

/// Finds the kind `name`, creates an object of it called `example`, and lists the metadata of all
/// objects in the client's default namespace.
pub(crate) async fn find(client: Client, cache: &Path, name: &str) -> Result<Option<Found>> {
    let disk = DiskCache::new(cache, "https://cluster.example:6443", Clock::system());
    // A long-running process must refresh its cache: kinds are added and removed.
    let hour = Duration::from_secs(3600);
    let discovery = Discovery::new(client.clone()).on_disk(disk).max_age(hour);
    let Some(served) = discovery.find(name).await? else {
        return Ok(None);
    };
    let kind = served.api_resource();
    let objects: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &kind);
    let object = DynamicObject::new("example", &kind);
    objects.create(&PostParams::default(), &object).await?;
    // The server sends the metadata alone.
    let metadata = objects.list_metadata(&ListParams::default()).await?;
    let catalog = discovery.catalog().await?;
    let all = catalog.category("all").into_iter();
    let api = discovery
        .open_api(&served.resource.kind.api_version())
        .await?;
    let schemas = api
        .as_ref()
        .and_then(|api| api["components"]["schemas"].as_object());
    Ok(Some(Found {
        version: client.apiserver_version().await?.git_version,
        resource: served.resource.qualified_name(),
        all: all.map(|kind| kind.resource.qualified_name()).collect(),
        names: metadata.items.iter().map(ResourceExt::name_any).collect(),
        schemas: schemas.map_or(0, |schemas| schemas.len()),
    }))
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "discovery-example")?;
    let cache = std::env::temp_dir().join("discovery-example");
    let found = find(client, &cache, "cm").await;
    match found.map_err(|error| error.to_string())? {
        Some(found) => {
            println!("Kubernetes {} has {}", found.version, found.resource);
            println!("in the category all: {}", found.all.join(", "));
            println!("objects: {}", found.names.join(", "));
            println!("its API has {} schemas", found.schemas);
        }
        None => println!("the cluster serves no cm"),
    }
    Ok(())
}

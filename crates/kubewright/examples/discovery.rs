//! What a server serves, found by whatever people call it, remembered in memory and on disk; and
//! a kind that is known only at run time, read and written through what was found.

use std::path::Path;

use kubewright::Clock;
use kubewright::kube::Client;
use kubewright::kube::api::{Api, DynamicObject, ListParams, PostParams};
use kubewright::prelude::*;
use kubewright_runtime::client::{connect, load_config};
use kubewright_runtime::discovery::{Discovery, DiskCache};

/// The names that discovery knows, and the metadata of what is there.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) version: String,
    pub(crate) resource: String,
    pub(crate) all: Vec<String>,
    pub(crate) names: Vec<String>,
    /// What the API of its version says of it.
    pub(crate) schemas: usize,
}

/// Looks `name` up, makes an object of it called `example`, and lists their metadata.
pub(crate) async fn look(
    client: Client,
    cache: &Path,
    (namespace, name): (&str, &str),
) -> Result<Option<Found>> {
    let disk = DiskCache::new(cache, "https://cluster.example:6443", Clock::system());
    // Who runs for long asks again now and then: kinds go, too.
    let hour = Duration::from_secs(3600);
    let discovery = Discovery::new(client.clone()).on_disk(disk).max_age(hour);
    let Some(served) = discovery.find(name).await? else {
        return Ok(None);
    };
    let kind = served.api_resource();
    let objects: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &kind);
    let object = DynamicObject::new("example", &kind);
    objects.create(&PostParams::default(), &object).await?;
    // The rest of each object stays where it is.
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
        all: all.map(|one| one.resource.qualified_name()).collect(),
        names: metadata.items.iter().map(ResourceExt::name_any).collect(),
        schemas: schemas.map_or(0, |schemas| schemas.len()),
    }))
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "discovery-example")?;
    let namespace = client.default_namespace().to_owned();
    let cache = std::env::temp_dir().join("discovery-example");
    let found = look(client, &cache, (&namespace, "cm")).await;
    match found.map_err(|one| one.to_string())? {
        Some(found) => {
            println!("Kubernetes {} has {}", found.version, found.resource);
            println!("in the category all: {}", found.all.join(", "));
            println!("there are: {}", found.names.join(", "));
            println!("its API has {} schemas", found.schemas);
        }
        None => println!("the cluster serves no cm"),
    }
    Ok(())
}

//! The table of resources, from discovery.

use std::collections::BTreeMap;
use std::error::Error;

use serde::Serialize;
use serde_json::Value;

use super::server::Server;
use super::write;

/// All resources of the server.
#[derive(Serialize)]
struct Table {
    /// In the order of discovery, the core group first. The first version is the preferred one.
    groups: Vec<Group>,
    resources: Vec<Resource>,
}

#[derive(Serialize)]
struct Group {
    name: String,
    versions: Vec<String>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    group: String,
    version: String,
    plural: String,
    singular: String,
    kind: String,
    namespaced: bool,
    verbs: Vec<String>,
    short_names: Vec<String>,
    categories: Vec<String>,
    storage_version_hash: String,
    subresources: Vec<Subresource>,
}

/// A subresource. Its kind can have another group and version than the kind of the resource.
#[derive(Serialize)]
struct Subresource {
    name: String,
    group: String,
    version: String,
    kind: String,
    verbs: Vec<String>,
}

/// Reads the resources of all group versions.
pub(super) async fn read(server: &Server) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut table = Table {
        groups: vec![Group {
            name: String::new(),
            versions: vec!["v1".to_owned()],
        }],
        resources: Vec::new(),
    };
    let groups = server.read("/apis").await?;
    for group in groups["groups"].as_array().into_iter().flatten() {
        table.groups.push(Group {
            name: text(group, "name"),
            versions: group["versions"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|version| text(version, "version"))
                .collect(),
        });
    }
    for group in &table.groups {
        for version in &group.versions {
            let path = match group.name.as_str() {
                "" => format!("/api/{version}"),
                name => format!("/apis/{name}/{version}"),
            };
            let list = server.read(&path).await?;
            table
                .resources
                .extend(resources(&list, &group.name, version));
        }
    }
    write::pack(&serde_json::to_vec(&table)?)
}

fn resources(list: &Value, group: &str, version: &str) -> Vec<Resource> {
    let entries = list["resources"].as_array().cloned().unwrap_or_default();
    let mut found: BTreeMap<String, Resource> = BTreeMap::new();
    for entry in &entries {
        let name = text(entry, "name");
        let (plural, subresource) = match name.split_once('/') {
            Some((plural, subresource)) => (plural, Some(subresource)),
            None => (name.as_str(), None),
        };
        let resource = found.entry(plural.to_owned()).or_default();
        let own = |name: &str, inherited: &str| match text(entry, name) {
            empty if empty.is_empty() => inherited.to_owned(),
            own => own,
        };
        if let Some(subresource) = subresource {
            resource.subresources.push(Subresource {
                name: subresource.to_owned(),
                group: match entry.get("version") {
                    Some(_) => text(entry, "group"),
                    None => group.to_owned(),
                },
                version: own("version", version),
                kind: text(entry, "kind"),
                verbs: texts(entry, "verbs"),
            });
            continue;
        }
        *resource = Resource {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            singular: text(entry, "singularName"),
            kind: text(entry, "kind"),
            namespaced: entry["namespaced"].as_bool().unwrap_or_default(),
            verbs: texts(entry, "verbs"),
            short_names: texts(entry, "shortNames"),
            categories: texts(entry, "categories"),
            storage_version_hash: text(entry, "storageVersionHash"),
            subresources: std::mem::take(&mut resource.subresources),
        };
    }
    found.into_values().collect()
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value, name: &str) -> Vec<String> {
    let items = value[name].as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

//! Compiles a CustomResourceDefinition into the resources that it declares.

use std::sync::Arc;

use kubewright_core::{Kind, Resource, Revision, Scope};
use kubewright_kinds::autoscaling::SCALE;
use kubewright_kinds::columns::CustomColumn;
use kubewright_kinds::custom::{CUSTOM_RESOURCE, CustomSchema, ScalePaths, schemas};
use kubewright_kinds::json::{items, text};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::conversion::Conversion;
use super::custom_version::CustomVersion;
use super::served::{Origin, ServedResource, Subresource};

const VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

/// A stored CustomResourceDefinition, compiled.
#[derive(Debug)]
pub(crate) struct Definition {
    is_served: bool,
    /// The versions that are served, in the order of the definition.
    versions: Vec<Arc<ServedResource>>,
}

impl Definition {
    /// Compiles a definition of the given revision, which was accepted.
    pub(crate) fn compile(value: &Value, since: Revision) -> Self {
        let spec = &value["spec"];
        let versions: Vec<&Value> = items(&spec["versions"]).collect();
        let storage = versions
            .iter()
            .find(|version| version["storage"] == true)
            .and_then(|version| version["name"].as_str())
            .unwrap_or_default();
        let kind = text(&value["status"]["acceptedNames"]["kind"]);
        let schemas = schemas(text(&spec["group"]), kind, &spec["versions"]);
        let has = |kind: &str| {
            items(&value["status"]["conditions"])
                .any(|condition| condition["type"] == kind && condition["status"] == "True")
        };
        Self {
            is_served: has("NamesAccepted") || has("Established"),
            versions: versions
                .iter()
                .enumerate()
                .filter(|(_, version)| version["served"] == true)
                .map(|(index, version)| {
                    let schema = VersionSchema {
                        schemas: Arc::clone(&schemas),
                        index,
                        since,
                    };
                    Arc::new(compile_version(value, version, storage, schema))
                })
                .collect(),
        }
    }

    pub(crate) fn is_served(&self) -> bool {
        self.is_served
    }

    pub(crate) fn versions(&self) -> &[Arc<ServedResource>] {
        &self.versions
    }

    pub(crate) fn version(&self, name: &str) -> Option<Arc<ServedResource>> {
        let mut versions = self.versions.iter();
        versions
            .find(|served| served.kind().version() == name)
            .cloned()
    }
}

fn kind_of(definition: &Value, version: &Value) -> Kind {
    Kind::new(
        text(&definition["spec"]["group"]),
        text(&version["name"]),
        text(&definition["status"]["acceptedNames"]["kind"]),
    )
}

/// The schema of a version among those of its definition.
struct VersionSchema {
    schemas: Arc<Vec<CustomSchema>>,
    index: usize,
    since: Revision,
}

fn compile_version(
    definition: &Value,
    version: &Value,
    storage: &str,
    schema: VersionSchema,
) -> ServedResource {
    let spec = &definition["spec"];
    let names = &definition["status"]["acceptedNames"];
    let group = text(&spec["group"]);
    let kind = kind_of(definition, version);
    let scope = match text(&spec["scope"]) {
        "Namespaced" => Scope::Namespaced,
        _ => Scope::Cluster,
    };
    let resource = Resource::new(kind.clone(), text(&names["plural"]), scope);
    let mut subresources = Vec::new();
    let declared = &version["subresources"];
    let verbs = || ["get", "patch", "update"].map(str::to_owned).to_vec();
    if declared["status"].is_object() {
        subresources.push(Subresource {
            name: "status".to_owned(),
            kind: kind.clone(),
            verbs: verbs(),
        });
    }
    if declared["scale"].is_object() {
        subresources.push(Subresource {
            name: "scale".to_owned(),
            kind: SCALE.in_version("v1"),
            verbs: verbs(),
        });
    }
    let stored = Kind::new(group, storage, &*kind.kind);
    ServedResource {
        singular: text(&names["singular"]).to_owned(),
        list_kind: text(&names["listKind"]).to_owned(),
        short_names: strings(&names["shortNames"]),
        categories: strings(&names["categories"]),
        verbs: VERBS.map(str::to_owned).to_vec(),
        subresources,
        storage_version_hash: storage_version_hash(&stored),
        id: resource.qualified_name().into(),
        strategy: &CUSTOM_RESOURCE,
        origin: Origin::Custom(Arc::new(CustomVersion {
            conversion: Conversion::compile(spec),
            storage_api_version: stored.api_version(),
            schemas: schema.schemas,
            index: schema.index,
            since: schema.since,
            selectable: selectable(version),
            columns: CustomColumn::all(version),
            scale: ScalePaths::new(&declared["scale"]),
        })),
        resource,
    }
}

/// The first eight bytes of the SHA-256 of `group/version/kind`, which clients compare.
fn storage_version_hash(stored: &Kind) -> String {
    use base64::Engine;
    let text = format!("{}/{}/{}", stored.group(), stored.version(), stored.kind);
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    let head = digest.as_ref().get(..8).unwrap_or_default();
    base64::engine::general_purpose::STANDARD.encode(head)
}

fn selectable(version: &Value) -> Vec<String> {
    items(&version["selectableFields"])
        .filter_map(|field| field["jsonPath"].as_str()?.strip_prefix('.'))
        .map(str::to_owned)
        .collect()
}

/// The error for a create while the definition is being deleted.
pub(crate) fn terminating_definition(resource: &Resource, name: &str) -> Status {
    let why = "create not allowed while custom resource definition is terminating";
    Status::forbidden(resource, name, why)
}

fn strings(list: &Value) -> Vec<String> {
    items(list)
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

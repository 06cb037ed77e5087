use std::sync::Arc;

use kubewright_core::{FieldSelector, Kind, Resource, Revision, Scope};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::Conversion;
use super::compiled::schemas;
use super::scale_paths::ScalePaths;
use super::schema::{Checked, CustomSchema};
use crate::catalog::{Origin, Served, Subresource};
use crate::store::Object;
use crate::table::CustomColumn;

/// The store's name for CustomResourceDefinitions.
pub(crate) const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

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

/// A stored CustomResourceDefinition in the form in which it is asked.
#[derive(Debug)]
pub(crate) struct Definition {
    is_served: bool,
    /// The versions that are served, in the order of the definition.
    versions: Vec<Arc<Served>>,
}

/// What a custom resource has besides what every resource has.
#[derive(Debug)]
pub(crate) struct CustomVersion {
    /// How objects get from one version to another.
    pub(crate) conversion: Conversion,
    /// The `apiVersion` that objects are stored with.
    pub(crate) storage_api_version: String,
    /// The schemas of all versions, and which of them is this one's.
    schemas: Arc<Vec<CustomSchema>>,
    index: usize,
    /// Since when the definition is what it is.
    since: Revision,
    /// What objects can be selected by, such as `spec.color`.
    selectable: Vec<String>,
    /// What tables show of its objects besides their names.
    pub(crate) columns: Vec<CustomColumn>,
    /// Where its objects say how many replicas they want and have.
    pub(crate) scale: Option<ScalePaths>,
}

impl Definition {
    /// Reads a definition that was accepted.
    pub(crate) fn compile(value: &Value, since: Revision) -> Self {
        let spec = &value["spec"];
        let versions: Vec<&Value> = spec["versions"].as_array().into_iter().flatten().collect();
        let storage = versions
            .iter()
            .find(|version| version["storage"] == true)
            .and_then(|version| version["name"].as_str())
            .unwrap_or_default();
        let kind = text(&value["status"]["acceptedNames"]["kind"]);
        let schemas = schemas(text(&spec["group"]), kind, &spec["versions"]);
        let has = |kind: &str| {
            let mut conditions = value["status"]["conditions"]
                .as_array()
                .into_iter()
                .flatten();
            conditions.any(|one| one["type"] == kind && one["status"] == "True")
        };
        Self {
            is_served: has("NamesAccepted") || has("Established"),
            versions: versions
                .iter()
                .enumerate()
                .filter(|(_, version)| version["served"] == true)
                .map(|(index, version)| {
                    let place = Place {
                        schemas: Arc::clone(&schemas),
                        index,
                        since,
                    };
                    Arc::new(compile_version(value, version, storage, place))
                })
                .collect(),
        }
    }

    pub(crate) fn is_served(&self) -> bool {
        self.is_served
    }

    pub(crate) fn versions(&self) -> &[Arc<Served>] {
        &self.versions
    }

    pub(crate) fn version(&self, name: &str) -> Option<Arc<Served>> {
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

/// Where a version stands among the others of its definition.
struct Place {
    schemas: Arc<Vec<CustomSchema>>,
    index: usize,
    since: Revision,
}

fn compile_version(definition: &Value, version: &Value, storage: &str, place: Place) -> Served {
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
            kind: Kind::new("autoscaling", "v1", "Scale"),
            verbs: verbs(),
        });
    }
    let stored = Kind::new(group, storage, &*kind.kind);
    Served {
        singular: text(&names["singular"]).to_owned(),
        list_kind: text(&names["listKind"]).to_owned(),
        short_names: texts(&names["shortNames"]),
        categories: texts(&names["categories"]),
        verbs: VERBS.map(str::to_owned).to_vec(),
        subresources,
        storage_version_hash: storage_version_hash(&stored),
        id: resource.qualified_name().into(),
        origin: Origin::Custom(Arc::new(CustomVersion {
            conversion: Conversion::compile(spec),
            storage_api_version: stored.api_version(),
            schemas: place.schemas,
            index: place.index,
            since: place.since,
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
    let fields = version["selectableFields"].as_array().into_iter().flatten();
    fields
        .filter_map(|field| field["jsonPath"].as_str()?.strip_prefix('.'))
        .map(str::to_owned)
        .collect()
}

impl CustomVersion {
    /// What this version looks like.
    ///
    /// # Panics
    ///
    /// Never: each version is made with the place of its own schema.
    pub(crate) fn schema(&self) -> &CustomSchema {
        let schema = self.schemas.get(self.index);
        schema.expect("each version is made with the place of its own schema")
    }

    /// What all versions that are served look like.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = &CustomSchema> {
        self.schemas.iter().filter(|schema| schema.is_served())
    }

    /// A stored object as the schema of the version that it is stored in shows it: without what
    /// the schema does not know, with the defaults that came after the object.
    pub(crate) fn restore(&self, object: &Arc<Object>) -> Arc<Object> {
        // What was written since the definition changed conforms, if there is only one schema.
        if self.schemas.len() == 1 && object.revision() > self.since {
            return Arc::clone(object);
        }
        let stored = &object.value()["apiVersion"];
        let mut schemas = self.schemas.iter();
        let Some(schema) = schemas.find(|one| *stored == one.kind().api_version().as_str()) else {
            return Arc::clone(object);
        };
        let mut value = object.value().clone();
        schema.conform(&mut value);
        match value == *object.value() {
            true => Arc::clone(object),
            false => Arc::new(Object::encoded(value, object.revision())),
        }
    }

    /// Whether expressions are evaluated about its objects.
    pub(crate) fn has_rules(&self) -> bool {
        self.schema().has_rules()
    }

    /// What is wrong with an object in this version, and what its writer should be told.
    pub(crate) fn validate(&self, value: &Value, old: Option<&Value>) -> Checked {
        let scale = self.scale.iter();
        let scale =
            scale.flat_map(|paths| [paths.spec_problems(value), paths.status_problems(value)]);
        self.schema()
            .validate(value, old, scale.flatten().collect())
    }

    /// The same for an object of which only the status was written.
    pub(crate) fn validate_status(&self, value: &Value, old: Option<&Value>) -> Checked {
        let scale = self.scale.iter();
        let scale = scale.flat_map(|paths| paths.status_problems(value));
        self.schema().validate_status(value, old, scale.collect())
    }

    /// The message for a selector that names a field which cannot be selected by.
    pub(crate) fn refuse_fields(&self, selector: &FieldSelector) -> Option<String> {
        let known = |path: &str| {
            matches!(path, "metadata.name" | "metadata.namespace")
                || self.selectable.iter().any(|one| one == path)
        };
        let requirements = selector.requirements.iter();
        let unknown = requirements
            .map(|one| &one.path)
            .find(|path| !known(path))?;
        Some(format!("field label not supported: {unknown}"))
    }
}

/// 403: nothing new may come while a definition goes.
pub(crate) fn terminating_definition(resource: &Resource, name: &str) -> Status {
    let why = "create not allowed while custom resource definition is terminating";
    Status::forbidden(resource, name, why)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn texts(value: &Value) -> Vec<String> {
    let values = value.as_array().into_iter().flatten();
    values
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

use std::sync::Arc;

use kubewright_core::{FieldSelector, Kind, Resource, Revision, Scope};
use kubewright_wire::status::{Cause, Status};
use serde_json::{Value, json};

use super::Conversion;
use super::compiled::schemas;
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

/// Where the values of a custom resource's scale stand, as JSON pointers.
#[derive(Clone, Debug)]
pub(crate) struct ScalePaths {
    /// The path of the wanted replicas as the definition writes it.
    pub(crate) declared: String,
    pub(crate) wanted: String,
    pub(crate) present: String,
    pub(crate) selector: Option<String>,
}

impl ScalePaths {
    fn new(scale: &Value) -> Option<Self> {
        let pointer = |name: &str| Some(scale[name].as_str()?.replace('.', "/"));
        Some(Self {
            declared: scale["specReplicasPath"].as_str()?.to_owned(),
            wanted: pointer("specReplicasPath")?,
            present: pointer("statusReplicasPath")?,
            selector: pointer("labelSelectorPath").filter(|path| !path.is_empty()),
        })
    }

    /// The amounts of a scale are whole, and not negative (`ValidateScaleSpec` and
    /// `ValidateScaleStatus` of k8s.io/apiextensions-apiserver).
    fn problems(&self, value: &Value) -> Vec<Cause> {
        let check = |pointer: &String| {
            let path = pointer.replace('/', ".");
            let found = value.pointer(pointer)?;
            let Some(number) = found.as_i64() else {
                let detail = format!(
                    "{path} accessor error: {} is of the type {}, expected int64",
                    found
                        .as_str()
                        .map_or_else(|| found.to_string(), str::to_owned),
                    go_type(found)
                );
                return Some(Cause::invalid(&path, &json!(0), &detail));
            };
            let detail = match number {
                ..0 => "should be a non-negative integer".to_owned(),
                number if number > i64::from(i32::MAX) => {
                    format!("should be less than or equal to {}", i32::MAX)
                }
                _ => return None,
            };
            Some(Cause::invalid(&path, &json!(number), &detail))
        };
        [&self.wanted, &self.present]
            .into_iter()
            .filter_map(check)
            .collect()
    }
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

    /// What is wrong with an object in this version, and what its writer should be told.
    pub(crate) fn validate(&self, value: &Value, old: Option<&Value>) -> Checked {
        let mut checked = self.schema().validate(value, old);
        let scale = self.scale.iter();
        let problems: Vec<Cause> = scale.flat_map(|paths| paths.problems(value)).collect();
        checked.causes.splice(0..0, problems);
        checked
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

/// How Go calls the type of a value that came as JSON.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
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

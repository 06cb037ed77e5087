//! The schemas that documents refer to.

use std::collections::{BTreeMap, BTreeSet};

use flate2::read::GzDecoder;
use kubewright_core::{GroupVersion, Kind};
use kubewright_kinds::json::items;
use serde_json::{Map, Value};

const PREFIX: &str = "#/components/schemas/";
const KINDS: &str = "x-kubernetes-group-version-kind";

/// Schemas by name and by kind.
#[derive(Debug)]
pub(super) struct Schemas {
    all: BTreeMap<String, Value>,
    by_kind: BTreeMap<Kind, String>,
}

impl Schemas {
    /// The compressed table of the built-in schemas.
    pub(super) fn packed() -> &'static [u8] {
        include_bytes!("../../tables/openapi.json.gz")
    }

    /// The built-in schemas. They are read again for each document: documents are requested rarely,
    /// and the schemas would take more memory than all else in an idle server.
    pub(super) fn read() -> Self {
        let mut schemas = Self {
            all: BTreeMap::new(),
            by_kind: BTreeMap::new(),
        };
        let table: BTreeMap<String, Value> =
            serde_json::from_reader(GzDecoder::new(Self::packed()))
                .expect("the committed table of schemas is checked by a test");
        for (name, schema) in table {
            schemas.add(name, schema);
        }
        schemas
    }

    pub(super) fn add(&mut self, name: String, schema: Value) {
        for kind in kinds_of(&schema) {
            self.by_kind.entry(kind).or_insert_with(|| name.clone());
        }
        self.all.insert(name, schema);
    }

    /// A reference to the schema of a kind.
    pub(super) fn reference(&self, kind: &Kind) -> Option<Value> {
        let name = self.by_kind.get(kind)?;
        Some(reference(name))
    }

    /// The schemas that a part of a document refers to, directly or through other schemas. Those
    /// that all groups share, such as options, list only the kinds of the given version.
    pub(super) fn reachable(&self, from: &Value, version: &GroupVersion) -> Map<String, Value> {
        let mut names = BTreeSet::new();
        let mut pending = Vec::new();
        collect(from, &mut pending);
        while let Some(name) = pending.pop() {
            if let Some(schema) = self.all.get(&name)
                && names.insert(name)
            {
                collect(schema, &mut pending);
            }
        }
        let found = names.into_iter().filter_map(|name| {
            let mut schema = self.all.get(&name)?.clone();
            keep_kinds_of(&mut schema, version);
            Some((name, schema))
        });
        found.collect()
    }
}

/// A reference to a schema by name.
pub(super) fn reference(name: &str) -> Value {
    serde_json::json!({ "$ref": format!("{PREFIX}{name}") })
}

/// Collects the names of the schemas that a value refers to.
fn collect(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let target = member.as_str().filter(|_| name == "$ref");
                match target.and_then(|target| target.strip_prefix(PREFIX)) {
                    Some(target) => names.push(target.to_owned()),
                    None => collect(member, names),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}

fn kinds_of(schema: &Value) -> Vec<Kind> {
    let entries: Vec<&Value> = items(&schema[KINDS]).collect();
    // A schema that all groups share is not the schema of any kind.
    if entries.len() > 1 {
        return Vec::new();
    }
    let kinds = entries.into_iter().filter_map(|entry| {
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        Some(Kind::new(text("group")?, text("version")?, text("kind")?))
    });
    kinds.collect()
}

fn keep_kinds_of(schema: &mut Value, version: &GroupVersion) {
    let entries = schema.get_mut(KINDS).and_then(Value::as_array_mut);
    if let Some(entries) = entries.filter(|entries| entries.len() > 1) {
        entries.retain(|entry| {
            entry["group"] == version.group.as_str() && entry["version"] == version.version.as_str()
        });
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::{GroupVersion, Kind};

    use super::Schemas;

    #[test]
    fn schemas_of_a_kind_include_those_it_refers_to() {
        let schemas = Schemas::read();
        let pod = schemas.reference(&Kind::new("", "v1", "Pod")).unwrap();
        let reached = schemas.reachable(&pod, &GroupVersion::new("", "v1"));
        for name in [
            "io.k8s.api.core.v1.Container",
            "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
        ] {
            assert!(reached.contains_key(name), "{name}");
        }
        assert!(!reached.contains_key("io.k8s.api.apps.v1.Deployment"));
    }
}

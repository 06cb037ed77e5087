use std::collections::{BTreeMap, BTreeSet};

use flate2::read::GzDecoder;
use kubewright_core::{GroupVersion, Kind};
use serde_json::{Map, Value};

const PREFIX: &str = "#/components/schemas/";
const KINDS: &str = "x-kubernetes-group-version-kind";

/// The schemas that documents are made of, by name.
#[derive(Debug)]
pub(super) struct Schemas {
    all: BTreeMap<String, Value>,
    by_kind: BTreeMap<Kind, String>,
}

impl Schemas {
    /// The committed table as it lies there.
    pub(super) fn packed() -> &'static [u8] {
        include_bytes!("../../tables/openapi.json.gz")
    }

    /// Those of Kubernetes. They are read anew for each document: few are asked for, and what is
    /// kept would be larger than all else in an idle server.
    pub(super) fn read() -> Self {
        let all = serde_json::from_reader(GzDecoder::new(Self::packed()));
        let mut schemas = Self {
            all: BTreeMap::new(),
            by_kind: BTreeMap::new(),
        };
        let all: BTreeMap<String, Value> =
            all.expect("the committed table of schemas is checked by a test");
        for (name, schema) in all {
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

    /// The schemas that a part of a document leads to. Options and events, which all groups share,
    /// list only the kinds of this one.
    pub(super) fn reachable(&self, from: &Value, version: &GroupVersion) -> Map<String, Value> {
        let mut names = BTreeSet::new();
        let mut open = Vec::new();
        collect(from, &mut open);
        while let Some(name) = open.pop() {
            if let Some(schema) = self.all.get(&name)
                && names.insert(name)
            {
                collect(schema, &mut open);
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

/// The names of all schemas that a value refers to.
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
    let entries = schema.get(KINDS).and_then(Value::as_array);
    let entries: Vec<&Value> = entries.into_iter().flatten().collect();
    // What belongs to all groups is nobody's kind.
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
    fn a_kind_leads_to_all_that_it_is_made_of() {
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

use std::collections::BTreeMap;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use kubewright_core::Kind;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The defaults that depend on nothing, as `cargo xtask tables` found them.
#[derive(Debug, Deserialize)]
pub(super) struct Defaults {
    /// The first is no node.
    nodes: Vec<Option<Node>>,
    /// Group, version, kind and place of the node.
    kinds: Vec<(String, String, String, usize)>,
    /// Kind and path of each default that depends on other fields.
    #[cfg(test)]
    pub(super) conditional: Vec<String>,
}

/// What is filled into a struct, and where to go on from it.
#[derive(Debug, Deserialize)]
struct Node {
    /// Fields that are filled in where they are absent.
    #[serde(rename = "d", default)]
    absent: BTreeMap<String, Value>,
    /// Fields that are filled in where they have the value of an unset one.
    #[serde(rename = "z", default)]
    zero: BTreeMap<String, Value>,
    #[serde(rename = "f", default)]
    fields: BTreeMap<String, usize>,
    #[serde(rename = "i", default)]
    items: usize,
    #[serde(rename = "e", default)]
    entries: usize,
}

/// The table, read once.
pub(super) fn defaults() -> &'static Defaults {
    static DEFAULTS: LazyLock<Defaults> = LazyLock::new(|| {
        let packed = include_bytes!("../../../tables/defaults.json.gz");
        serde_json::from_reader(GzDecoder::new(packed.as_slice()))
            .expect("a test reads the committed table of defaults")
    });
    &DEFAULTS
}

impl Defaults {
    /// Fills in what the table says of the kind.
    pub(super) fn fill(&self, kind: &Kind, object: &mut Value) {
        let place = self.kinds.iter().find(|(group, version, name, _)| {
            group == kind.group() && version == kind.version() && *name == kind.kind
        });
        if let Some((.., place)) = place {
            self.visit(*place, object);
        }
    }

    fn visit(&self, place: usize, value: &mut Value) {
        let Some(Some(node)) = self.nodes.get(place) else {
            return;
        };
        match value {
            Value::Object(members) => self.visit_members(node, members),
            Value::Array(items) => items
                .iter_mut()
                .for_each(|item| self.visit(node.items, item)),
            _ => {}
        }
    }

    fn visit_members(&self, node: &Node, members: &mut Map<String, Value>) {
        if node.entries > 0 {
            members
                .values_mut()
                .for_each(|entry| self.visit(node.entries, entry));
            return;
        }
        for (name, value) in &node.absent {
            if members.get(name).is_none_or(Value::is_null) {
                members.insert(name.clone(), value.clone());
            }
        }
        for (name, value) in &node.zero {
            if members.get(name).is_none_or(is_zero) {
                members.insert(name.clone(), value.clone());
            }
        }
        for (name, place) in &node.fields {
            if let Some(member) = members.get_mut(name) {
                self.visit(*place, member);
            }
        }
    }
}

/// Whether a value is what Go writes for one that was never set.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

//! The defaults that depend on no other field, as a committed table.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use kubewright_core::Kind;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The defaults that depend on no other field, as `cargo xtask tables` writes them.
#[derive(Debug, Deserialize)]
pub(crate) struct Defaults {
    /// The first is empty: the index 0 means no node.
    nodes: Vec<Option<Node>>,
    /// Group, version, kind and index of the node.
    kinds: Vec<(String, String, String, usize)>,
    /// Kind and path of each default that depends on other fields.
    #[cfg(test)]
    pub(crate) conditional: Vec<String>,
}

/// The defaults of a struct, and the nodes of its fields.
#[derive(Debug, Deserialize)]
struct Node {
    /// Fields that are set when they are absent.
    #[serde(rename = "d", default)]
    absent: BTreeMap<String, Value>,
    /// Fields that are set when they are absent or zero.
    #[serde(rename = "z", default)]
    zero: BTreeMap<String, Value>,
    #[serde(rename = "f", default)]
    fields: BTreeMap<String, usize>,
    #[serde(rename = "i", default)]
    items: usize,
    #[serde(rename = "e", default)]
    entries: usize,
}

/// The table, which is parsed once.
pub(crate) fn defaults() -> &'static Defaults {
    static DEFAULTS: LazyLock<Defaults> = LazyLock::new(|| {
        let packed = include_bytes!("../tables/defaults.json.gz");
        serde_json::from_reader(GzDecoder::new(packed.as_slice()))
            .expect("a test reads the committed table of defaults")
    });
    &DEFAULTS
}

impl Defaults {
    /// Sets the defaults of the kind.
    pub(crate) fn apply(&self, kind: &Kind, object: &mut Value) {
        let entry = self.kinds.iter().find(|(group, version, name, _)| {
            group == kind.group() && version == kind.version() && *name == kind.kind
        });
        if let Some((.., index)) = entry {
            self.visit(*index, object);
        }
    }

    fn visit(&self, index: usize, value: &mut Value) {
        let Some(Some(node)) = self.nodes.get(index) else {
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
        for (name, index) in &node.fields {
            if let Some(member) = members.get_mut(name) {
                self.visit(*index, member);
            }
        }
    }
}

/// Whether a value is the zero value of its Go type.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::defaults;

    /// Set by the `defaults` function of a kind. The time of a device's taint is that of the
    /// request and is not set here.
    const RULED: [&str; 12] = [
        ".imagePullPolicy",
        ".image.pullPolicy",
        ".emptyDir",
        ".internalTrafficPolicy",
        "trategy.rollingUpdate",
        " spec.backoffLimit",
        " spec.completions",
        " spec.podReplacementPolicy",
        " spec.policyTypes",
        ".exactly.count",
        ".firstAvailable.0.count",
        ".taints.0.timeAdded",
    ];

    #[test]
    fn every_default_that_depends_on_other_fields_is_implemented() {
        for path in &defaults().conditional {
            assert!(RULED.iter().any(|rule| path.ends_with(rule)), "{path}");
        }
    }
}

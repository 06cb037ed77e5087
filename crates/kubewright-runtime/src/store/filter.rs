//! Which objects of a kind a store contains.

use kubewright_core::{FieldRequirement, FieldSelector, LabelSelector, ObjectKey};
use kubewright_wire::record::Record;

use crate::NamespaceSet;

/// Which objects of a kind a store contains.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    /// Only this namespace; none means all.
    pub namespace: Option<String>,
    /// Only these namespaces; none means all.
    pub within: Option<NamespaceSet>,
    /// Only objects whose labels match.
    pub labels: LabelSelector,
    /// Only objects whose fields match.
    pub fields: FieldSelector,
}

impl Filter {
    /// Whether the store can contain an object with this key.
    pub fn covers(&self, key: &ObjectKey) -> bool {
        let namespace = self.namespace.as_deref();
        let is_within = |set: &NamespaceSet| key.namespace().is_some_and(|name| set.contains(name));
        namespace.is_none_or(|namespace| key.namespace() == Some(namespace))
            && self.within.as_ref().is_none_or(is_within)
    }

    /// Whether the selectors match the object, as far as the object shows.
    ///
    /// An absent field can have a zero value that was omitted, and the API server selects by that
    /// value. So an absent field matches zero values.
    pub fn matches(&self, record: &Record) -> bool {
        let requirements = &self.fields.requirements;
        self.labels.matches(|label| record.label(label))
            && requirements
                .iter()
                .all(|requirement| can_hold(requirement, record))
    }
}

fn can_hold(requirement: &FieldRequirement, record: &Record) -> bool {
    match record.selectable(&requirement.path) {
        Some(text) => (text == requirement.value.as_str()) == requirement.equal,
        None => !requirement.equal || matches!(requirement.value.as_str(), "" | "0" | "false"),
    }
}

#[cfg(test)]
mod tests {
    use kubewright_wire::record::Record;
    use serde_json::json;

    use super::Filter;

    #[test]
    fn fields_are_compared_as_text_and_absent_fields_match_zero_values() {
        let object = json!({
            "metadata": {"name": "a"},
            "spec": {"replicas": 3, "paused": true, "node": "n1", "gone": null},
        });
        let record = Record::from_value(&object).unwrap();
        let matches = |fields: &str| {
            let filter = Filter {
                fields: fields.parse().unwrap(),
                ..Filter::default()
            };
            filter.matches(&record)
        };
        for fields in [
            "spec.replicas=3",
            "spec.replicas!=4,spec.paused=true",
            "spec.node=n1",
            "spec.suspended=false",
            "spec.suspended!=false",
            "spec.count=0",
            "spec.zone=",
            "spec.gone=",
            "metadata.name=a",
        ] {
            assert!(matches(fields), "{fields}");
        }
        for fields in [
            "spec.replicas=4",
            "spec.paused=false",
            "spec.node!=n1",
            "spec.suspended=true",
            "spec.zone=eu",
            "spec.node=n1,spec.count=1",
        ] {
            assert!(!matches(fields), "{fields}");
        }
    }
}

use kubewright_core::{FieldRequirement, FieldSelector, LabelSelector, ObjectKey};
use kubewright_wire::record::Record;

use crate::NamespaceSet;

/// Which objects of a kind a store is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    /// Only this namespace; none means all.
    pub namespace: Option<String>,
    /// Only these namespaces; none means all.
    pub within: Option<NamespaceSet>,
    /// Only objects with such labels.
    pub labels: LabelSelector,
    /// Only objects with such fields.
    pub fields: FieldSelector,
}

impl Filter {
    /// Whether an object of this key can be in the store at all.
    pub fn covers(&self, key: &ObjectKey) -> bool {
        let wanted = self.namespace.as_deref();
        let is_within = |set: &NamespaceSet| key.namespace().is_some_and(|name| set.contains(name));
        wanted.is_none_or(|wanted| key.namespace() == Some(wanted))
            && self.within.as_ref().is_none_or(is_within)
    }

    /// Whether the selectors match the object, as far as can be told from it.
    ///
    /// A field that is not there may be one whose zero value is left out, which the API server
    /// selects by all the same: in doubt it matches.
    pub fn matches(&self, record: &Record) -> bool {
        let fields = &self.fields.requirements;
        self.labels.matches(|label| record.label(label))
            && fields.iter().all(|one| may_hold(one, record))
    }
}

fn may_hold(requirement: &FieldRequirement, record: &Record) -> bool {
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
    fn fields_are_compared_by_their_text_and_absent_ones_may_be_zero() {
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

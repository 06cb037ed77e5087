use kubewright_core::{FieldSelector, LabelSelector, ObjectKey};
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

    /// Whether the selectors match the object.
    pub fn matches(&self, record: &Record) -> bool {
        self.labels.matches(|label| record.label(label))
            && self.fields.matches(|path| record.selectable(path))
    }
}

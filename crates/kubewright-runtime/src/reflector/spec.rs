use kubewright_core::{FieldSelector, LabelSelector, Resource};

use crate::client::Query;
use crate::store::Filter;

/// Which objects are followed: equal specs share one informer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InformerSpec {
    /// Of which kind.
    pub resource: Resource,
    /// Only in this namespace; none means all.
    pub namespace: Option<String>,
    /// Only with such labels.
    pub labels: LabelSelector,
    /// Only with such fields.
    pub fields: FieldSelector,
}

impl InformerSpec {
    /// All objects of a kind.
    pub fn all(resource: Resource) -> Self {
        Self {
            resource,
            namespace: None,
            labels: LabelSelector::default(),
            fields: FieldSelector::default(),
        }
    }

    /// The same, as a store's filter.
    pub fn filter(&self) -> Filter {
        Filter {
            namespace: self.namespace.clone(),
            labels: self.labels.clone(),
            fields: self.fields.clone(),
        }
    }

    /// The path of the collection with the given query and the selectors.
    pub(super) fn path(&self, query: Query) -> String {
        let query = query
            .with("labelSelector", &self.labels)
            .with("fieldSelector", &self.fields);
        format!("{}{query}", self.resource.path(self.namespace.as_deref()))
    }

    /// How errors and logs name the collection: `pods in shop`.
    pub(crate) fn what(&self) -> String {
        let name = self.resource.qualified_name();
        match &self.namespace {
            Some(namespace) => format!("{name} in {namespace}"),
            None => name,
        }
    }
}

/// How a reflector reads.
#[derive(Clone, Debug)]
pub struct ReflectorOptions {
    /// Whose Apply entry of `metadata.managedFields` leaves its hash in the records.
    pub field_manager: Option<String>,
    /// How many objects are asked for at once.
    pub page_size: u32,
    /// The largest object that is read, in bytes of JSON.
    pub largest_object: usize,
    /// Where jitter comes from; none takes a new one for each reflector.
    pub seed: Option<u64>,
}

impl Default for ReflectorOptions {
    fn default() -> Self {
        Self {
            field_manager: None,
            page_size: 500,
            // etcd takes 1.5 MB by default, and 8 MB is the most that is advised.
            largest_object: 16 << 20,
            seed: None,
        }
    }
}

//! The typed view of an informer.

use std::fmt;
use std::sync::Arc;

use kubewright_core::{LabelSelector, ObjectKey};
use kubewright_wire::record::Record;
use serde::de::DeserializeOwned;

use super::decoder::{DecodeError, Decoder};
use super::list::List;
use crate::informer::{Content, Informer, InformerSpec, Informers};
use crate::store::UnknownIndex;

/// An informer's objects as values of type `K`: the kind's own type, or a struct with some of its
/// fields. All views of one informer and type, clones included, share the decoded objects.
pub struct View<K> {
    decoder: Arc<Decoder<K>>,
    informer: Informer,
}

impl<K: DeserializeOwned + Send + Sync + 'static> View<K> {
    /// A view of the informer's objects.
    pub fn new(informer: Informer) -> Self {
        let decoder = informer.extension(|budget| {
            let kind = informer.spec().resource.kind.clone();
            Decoder::new(budget, informer.store().clone(), kind)
        });
        Self { decoder, informer }
    }

    /// The object with this key, own writes included.
    pub fn get(&self, key: &ObjectKey) -> Result<Option<Arc<K>>, DecodeError> {
        let Some(record) = self.informer.store().get(key) else {
            return Ok(None);
        };
        self.decoder.read_cached(key, &record).map(Some)
    }

    /// All current objects, decoded while the list is iterated.
    pub fn list(&self) -> List<K> {
        let snapshot = self.informer.store().snapshot();
        let records = snapshot
            .iter()
            .map(|(key, record)| (key.clone(), record.clone()))
            .collect();
        self.decoded(records)
    }

    /// The objects that have an owner with this uid.
    pub fn by_owner(&self, uid: &str) -> List<K> {
        self.decoded(self.informer.store().by_owner(uid))
    }

    /// The objects in the namespace, or in all namespaces, whose labels match. Only those are
    /// decoded.
    pub fn matching(&self, namespace: Option<&str>, labels: &LabelSelector) -> List<K> {
        let mut records = self.informer.store().matching(labels);
        if let Some(name) = namespace {
            records.retain(|(key, _)| key.namespace() == Some(name));
        }
        self.decoded(records)
    }

    /// The objects that have the value in the index with this name.
    pub fn by_index(&self, name: &str, value: &str) -> Result<List<K>, UnknownIndex> {
        Ok(self.decoded(self.informer.store().by_index(name, value)?))
    }

    /// Adds an index to the informer's store. `values` returns the values under which an object is
    /// found and must depend on the object alone. An object that is not a `K`, or for which it
    /// panics, is found under no value.
    ///
    /// The index replaces another with the same name, and all users of the informer see it. An
    /// index over few fields costs least with a view of a struct that has only those fields.
    pub fn add_index(
        &self,
        name: &str,
        values: impl Fn(&K) -> Vec<String> + Send + Sync + 'static,
    ) {
        let by_record = move |record: &Record| match record.decode::<K>() {
            Ok(object) => values(&object),
            Err(_) => Vec::new(),
        };
        self.informer.store().add_index(name, Arc::new(by_record));
    }

    /// Decodes an object of an event. A failure is logged once for each revision.
    pub fn decode(&self, key: &ObjectKey, record: &Record) -> Result<Arc<K>, DecodeError> {
        self.decoder.read(key, record)
    }

    /// The informer that the view reads.
    pub fn informer(&self) -> &Informer {
        &self.informer
    }

    fn decoded(&self, records: Vec<(ObjectKey, Record)>) -> List<K> {
        List::cached(records, Arc::clone(&self.decoder))
    }
}

impl Informers {
    /// A view of the objects as values of type `T`, which can be a struct with some of their
    /// fields, or [`Metadata`](super::Metadata). The informer keeps only the fields that `T` reads.
    ///
    /// ```no_run
    /// # use kubewright_core::{Kind, Resource, Scope};
    /// use kubewright_runtime::informer::{InformerSpec, Informers};
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// struct PodPlacement {
    ///     spec: Placement,
    /// }
    /// #[derive(Deserialize)]
    /// #[serde(rename_all = "camelCase")]
    /// struct Placement {
    ///     node_name: Option<String>,
    /// }
    ///
    /// # async fn run(informers: Informers) -> Result<(), Box<dyn std::error::Error>> {
    /// let pods = Resource::new(Kind::new("", "v1", "Pod"), "pods", Scope::Namespaced);
    /// let view = informers.view::<PodPlacement>(&InformerSpec::all(pods));
    /// view.informer().synced().await?;
    /// let scheduled = view.list().iter().filter(|pod| pod.spec.node_name.is_some()).count();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, when the informer has to be started.
    pub fn view<T: DeserializeOwned + Send + Sync + 'static>(
        &self,
        spec: &InformerSpec,
    ) -> View<T> {
        View::new(self.get(&spec.clone().with_content(Content::of::<T>())))
    }
}

impl<K> Clone for View<K> {
    fn clone(&self) -> Self {
        Self {
            decoder: Arc::clone(&self.decoder),
            informer: self.informer.clone(),
        }
    }
}

impl<K> fmt::Debug for View<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("informer", &self.informer)
            .finish_non_exhaustive()
    }
}

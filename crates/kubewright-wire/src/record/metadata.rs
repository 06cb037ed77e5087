//! Metadata of a record, read in place.

use kubewright_core::{ObjectKey, OwnerReference, Revision};
use serde::Deserialize;

use super::decode::NodeDeserializer;
use super::error::RecordError;
use super::flat::Record;
use super::node::{Fields, Node, Object};

/// Access to the metadata, in place.
impl Record {
    /// `metadata.name`, empty where it is missing.
    pub fn name(&self) -> &str {
        self.metadata_text("name").unwrap_or_default()
    }

    /// `metadata.namespace`, none for cluster-scoped objects.
    pub fn namespace(&self) -> Option<&str> {
        self.metadata_text("namespace")
            .filter(|namespace| !namespace.is_empty())
    }

    /// Namespace and name.
    pub fn key(&self) -> ObjectKey {
        ObjectKey::new(self.namespace(), self.name())
    }

    /// `metadata.uid`, empty where it is missing.
    pub fn uid(&self) -> &str {
        self.metadata_text("uid").unwrap_or_default()
    }

    /// `metadata.resourceVersion` as text, empty where it is missing.
    pub fn resource_version(&self) -> &str {
        self.metadata_text("resourceVersion").unwrap_or_default()
    }

    /// `metadata.resourceVersion` as a number, which it is since Kubernetes 1.35; `None` when it is
    /// not a number.
    pub fn revision(&self) -> Option<Revision> {
        self.resource_version().parse().ok()
    }

    /// `metadata.generation`.
    pub fn generation(&self) -> Option<i64> {
        self.metadata()?.field("generation")?.as_integer()
    }

    /// `metadata.deletionTimestamp`, which is set while the object waits for its finalizers or grace
    /// period.
    pub fn deletion_timestamp(&self) -> Option<&str> {
        self.metadata_text("deletionTimestamp")
    }

    /// `metadata.labels`.
    pub fn labels(&self) -> Labels<'_> {
        self.metadata_map("labels")
    }

    /// The value of one label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels()
            .find_map(|(name, value)| (name == key).then_some(value))
    }

    /// `metadata.annotations`.
    pub fn annotations(&self) -> Labels<'_> {
        self.metadata_map("annotations")
    }

    /// `metadata.finalizers`.
    pub fn finalizers(&self) -> impl Iterator<Item = &str> {
        self.metadata()
            .and_then(|metadata| metadata.field("finalizers"))
            .and_then(Node::as_array)
            .into_iter()
            .flatten()
            .filter_map(Node::as_text)
    }

    /// `metadata.ownerReferences`.
    pub fn owner_references(&self) -> Result<Vec<OwnerReference>, RecordError> {
        match self.owners() {
            None => Ok(Vec::new()),
            Some(owners) => Vec::deserialize(NodeDeserializer::new(owners)),
        }
    }

    /// The uids of the owners, without decoding the references.
    pub fn owner_uids(&self) -> impl Iterator<Item = &str> {
        let owners = self.owners().and_then(Node::as_array);
        owners
            .into_iter()
            .flatten()
            .filter_map(|owner| owner.as_object()?.field("uid")?.as_text())
    }

    fn owners(&self) -> Option<Node<'_>> {
        self.metadata()?.field("ownerReferences")
    }

    fn metadata_text(&self, name: &str) -> Option<&str> {
        self.metadata()?.field(name)?.as_text()
    }

    fn metadata_map(&self, name: &str) -> Labels<'_> {
        let map = self.metadata().and_then(|metadata| metadata.field(name));
        Labels(
            map.and_then(Node::as_object)
                .map(<Object<'_> as IntoIterator>::into_iter),
        )
    }
}

/// The keys and values of a record's labels or annotations.
#[derive(Clone, Debug)]
pub struct Labels<'a>(Option<Fields<'a>>);

impl<'a> Iterator for Labels<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = self.0.as_mut()?.next()?;
        Some((key, value.as_text().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::{Kind, ObjectKey, Revision};
    use serde_json::json;

    use crate::record::{Encoder, EncoderOptions, FieldHash, Record};

    #[test]
    fn metadata_is_read_in_place_at_any_position() {
        let json = br#"{"spec":{"a":1},"metadata":{"namespace":"shop","name":"web","uid":"u-1",
            "resourceVersion":"42","generation":3,"deletionTimestamp":"2026-01-01T00:00:00Z",
            "labels":{"app":"web"},"annotations":{"example.com/note":"x"},
            "finalizers":["a/b"],"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet",
            "name":"rs","uid":"o-1","controller":true}]}}"#;
        let record = Record::from_json(json).unwrap();
        assert_eq!(record.key(), ObjectKey::namespaced("shop", "web"));
        assert_eq!(record.uid(), "u-1");
        assert_eq!(record.revision(), Some(Revision::new(42)));
        assert_eq!(record.generation(), Some(3));
        assert_eq!(record.deletion_timestamp(), Some("2026-01-01T00:00:00Z"));
        assert_eq!(record.label("app"), Some("web"));
        assert_eq!(record.annotations().count(), 1);
        assert_eq!(record.finalizers().collect::<Vec<_>>(), ["a/b"]);
        assert_eq!(record.owner_uids().collect::<Vec<_>>(), ["o-1"]);
        assert!(record.owner_references().unwrap()[0].is_controller());
    }

    #[test]
    fn missing_metadata_reads_as_empty() {
        let record = Record::from_json(br#"{"metadata":null,"spec":{}}"#).unwrap();
        assert_eq!((record.name(), record.uid()), ("", ""));
        assert_eq!(record.revision(), None);
        assert_eq!(record.labels().count(), 0);
        assert!(record.owner_references().unwrap().is_empty());
    }

    #[test]
    fn record_has_the_hash_of_the_managers_apply_entry() {
        let object = json!({"metadata": {"name": "web", "managedFields": [
            {"manager": "us", "operation": "Update", "fieldsV1": {"f:no": {}}},
            {"manager": "us", "operation": "Apply", "fieldsV1": {"f:spec": {"f:a": {}}}},
            {"manager": "us", "operation": "Apply", "subresource": "status",
             "fieldsV1": {"f:status": {}}},
            {"manager": "them", "operation": "Apply", "fieldsV1": {"f:them": {}}},
        ], "uid": "1"}});
        let mut encoder = Encoder::new(EncoderOptions {
            field_manager: Some("us".to_owned()),
            ..EncoderOptions::default()
        });
        let record = encoder.encode_value(&object).unwrap();
        let expected = FieldHash::of(&json!({"f:spec": {"f:a": {}}}));
        assert_eq!(record.field_hash(), Some(expected));
        assert_eq!(
            record.to_value(),
            json!({"metadata": {"name": "web", "uid": "1"}})
        );
        assert_eq!(Record::from_value(&object).unwrap().field_hash(), None);
    }

    #[test]
    fn hash_includes_the_parts_of_a_manager() {
        let hash = |managers: &[&str]| {
            let entries: Vec<_> = managers
                .iter()
                .map(|manager| {
                    json!({"manager": manager, "operation": "Apply", "fieldsV1": {"f:spec": {}}})
                })
                .collect();
            let object = json!({"metadata": {"name": "web", "managedFields": entries}});
            let mut encoder = Encoder::new(EncoderOptions {
                field_manager: Some("us".to_owned()),
                ..EncoderOptions::default()
            });
            encoder.encode_value(&object).unwrap().field_hash()
        };
        assert_eq!(hash(&["us/pages"]), hash(&["us"]));
        assert_ne!(hash(&["us/pages", "us/lines"]), hash(&["us/pages"]));
        assert_eq!(hash(&["usage", "them/us"]), None);
    }

    #[test]
    fn kind_of_the_options_is_in_every_record() {
        let mut encoder = Encoder::new(EncoderOptions {
            kind: Some(Kind::new("apps", "v1", "Deployment")),
            ..EncoderOptions::default()
        });
        let expected =
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}});
        for json in [
            r#"{"metadata":{"name":"a"}}"#,
            r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"}}"#,
        ] {
            let record = encoder.encode(json.as_bytes()).unwrap();
            assert_eq!(record.to_value(), expected);
            assert_eq!(record.name(), "a");
        }
    }
}

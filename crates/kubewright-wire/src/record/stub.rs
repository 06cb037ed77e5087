//! Stubs: the metadata of objects that cannot be read.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The part of an object that is stored when the object cannot be read: enough for its key, labels
/// and owners. Everything else is skipped without recursion, however deeply it is nested.
#[derive(Deserialize, Serialize)]
pub(super) struct Stub {
    metadata: StubMetadata,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct StubMetadata {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finalizers: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_references: Option<Value>,
}

impl Stub {
    /// The stub of a truncated object, if its metadata is complete: the API server writes the
    /// metadata before all fields that can be large.
    pub(super) fn of_beginning(json: &[u8]) -> Option<Self> {
        let mut metadata = None;
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        // It fails at the truncated end, after the metadata was read.
        Beginning(&mut metadata).deserialize(&mut deserializer).ok();
        metadata.map(|metadata| Self { metadata })
    }
}

/// Stores the metadata as soon as it is read.
struct Beginning<'m>(&'m mut Option<StubMetadata>);

impl<'de> DeserializeSeed<'de> for Beginning<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Beginning<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(key) = fields.next_key::<String>()? {
            if key == "metadata" {
                *self.0 = Some(fields.next_value()?);
                return Ok(());
            }
            fields.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde::Deserialize;
    use serde_json::{Value, json};

    use crate::record::{Encoder, EncoderOptions, RecordError};

    fn encoder() -> Encoder {
        Encoder::new(EncoderOptions {
            kind: Some(Kind::new("ex.io", "v1", "Set")),
            ..EncoderOptions::default()
        })
    }

    /// An object with this metadata whose spec has thousands of levels.
    fn deep(metadata: &Value) -> String {
        let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
        format!(r#"{{"spec":{open}{close},"metadata":{metadata}}}"#)
    }

    #[derive(Debug, Deserialize)]
    struct Anything {}

    #[test]
    fn stub_has_its_metadata_and_does_not_decode() {
        let metadata = json!({
            "name": "a", "namespace": "shop", "uid": "1", "resourceVersion": "7",
            "labels": {"app": "web"}, "ownerReferences": [{"apiVersion": "v1", "kind": "K",
            "name": "o", "uid": "u"}],
        });
        let json = deep(&metadata);
        let mut encoder = encoder();
        assert!(encoder.encode(json.as_bytes()).is_err());
        let stub = encoder.encode_stub(json.as_bytes()).unwrap();
        assert!(stub.is_stub());
        assert_eq!(
            (stub.key().to_string().as_str(), stub.uid()),
            ("shop/a", "1")
        );
        assert_eq!(stub.label("app"), Some("web"));
        assert_eq!(stub.owner_uids().collect::<Vec<_>>(), ["u"]);
        assert_eq!(
            stub.to_value(),
            json!({"apiVersion": "ex.io/v1", "kind": "Set", "metadata": metadata})
        );
        let error = stub.decode::<Anything>().unwrap_err();
        assert!(matches!(error, RecordError::Stub), "{error}");
        let whole = encoder.encode(br#"{"metadata":{"name":"a"}}"#).unwrap();
        assert!(!whole.is_stub());
        assert_ne!(
            whole,
            encoder
                .encode_stub(br#"{"metadata":{"name":"a"}}"#)
                .unwrap()
        );
    }

    #[test]
    fn object_without_a_name_has_no_stub() {
        for metadata in [json!({}), json!({"name": 7}), json!(null)] {
            let json = deep(&metadata);
            assert!(
                encoder().encode_stub(json.as_bytes()).is_err(),
                "{metadata}"
            );
        }
    }

    #[test]
    fn truncated_object_has_a_stub_if_its_metadata_is_complete() {
        let head = r#"{"kind":"ConfigMap","metadata":{"name":"a","uid":"1"}"#;
        let whole = format!(r#"{head},"data":{{"k":"{}"}}}}"#, "x".repeat(50));
        for length in 0..whole.len() {
            let (beginning, _) = whole.as_bytes().split_at(length);
            match encoder().encode_beginning(beginning) {
                Ok(stub) => {
                    assert!(length >= head.len() && stub.is_stub());
                    assert_eq!((stub.name(), stub.uid()), ("a", "1"));
                }
                Err(error) => assert!(length < head.len(), "{length}: {error}"),
            }
        }
    }
}

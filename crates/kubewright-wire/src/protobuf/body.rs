//! Request bodies in protobuf.

use serde::Deserialize as _;
use serde_json::{Value, json};

use super::envelope::Envelope;
use super::error::ProtobufError;
use super::layout::{Layout, Layouts};
use super::message::{Buffers, UnknownFields};
use super::object::ProtobufObject;

/// Reads the body of a request into the value that a Go client would have sent as JSON.
///
/// A field that the kind does not have is an error, because it could not be stored. Newer clients
/// send the zero values of fields that they do not use: these are skipped.
pub fn from_protobuf(bytes: &[u8], layouts: &'static Layouts) -> Result<Value, ProtobufError> {
    let envelope = Envelope::open(bytes)?;
    let kind = envelope.kind()?;
    let layout =
        layout_of(&kind, layouts).ok_or_else(|| ProtobufError::Kind(kind.clone().into()))?;
    let mut buffers = Buffers::new(UnknownFields::Reject);
    let object = ProtobufObject::new(layout, envelope.object);
    let mut value = Value::deserialize(object.with(&mut buffers))?;
    value["kind"] = json!(kind.kind);
    value["apiVersion"] = json!(kind.api_version());
    Ok(value)
}

/// The layout of DeleteOptions is the same in every group.
fn layout_of(kind: &kubewright_core::Kind, layouts: &'static Layouts) -> Option<Layout> {
    match kind.kind.as_str() {
        "DeleteOptions" => layouts.of_delete_options(),
        _ => layouts.of_kind(kind),
    }
}

#[cfg(feature = "layouts")]
#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Layouts, ProtobufError, from_protobuf};

    /// A field of a message with its number and content.
    fn field(number: u8, inside: &[u8]) -> Vec<u8> {
        let length = u8::try_from(inside.len()).unwrap();
        [&[number << 3 | 2, length], inside].concat()
    }

    fn body(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        let meta = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
        [b"k8s\0".to_vec(), field(1, &meta), field(2, raw)].concat()
    }

    fn read(bytes: &[u8]) -> Result<Value, ProtobufError> {
        from_protobuf(bytes, Layouts::builtin())
    }

    #[test]
    fn config_map_reads_as_its_json() {
        let label = [field(1, b"x"), field(2, b"y")].concat();
        let metadata = [field(1, b"a"), field(8, &[]), field(11, &label)].concat();
        let data = [field(1, b"k"), field(2, b"v")].concat();
        let binary = [field(1, b"b"), field(2, b"hi")].concat();
        let raw = [field(1, &metadata), field(2, &data), field(3, &binary)].concat();
        assert_eq!(
            read(&body("v1", "ConfigMap", &raw)),
            Ok(json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "a", "labels": {"x": "y"}},
                "data": {"k": "v"},
                "binaryData": {"b": "aGk="},
            }))
        );
    }

    #[test]
    fn delete_options_of_every_group_are_read() {
        let dry_run = field(5, b"All");
        for api_version in ["v1", "apps/v1", "meta.k8s.io/v1", "example.com/v2"] {
            let options = read(&body(api_version, "DeleteOptions", &field(4, b"Orphan")));
            assert_eq!(
                options.unwrap()["propagationPolicy"],
                "Orphan",
                "{api_version}"
            );
        }
        let options = read(&body("v1", "DeleteOptions", &dry_run));
        assert_eq!(options.unwrap()["dryRun"], json!(["All"]));
    }

    #[test]
    fn microseconds_have_six_digits() {
        for (nanos, text) in [
            (0, "1970-01-01T00:00:01.000000Z"),
            (120_000_000, "1970-01-01T00:00:01.120000Z"),
            (1_500, "1970-01-01T00:00:01.000001Z"),
        ] {
            let mut time = vec![1 << 3, 1, 2 << 3];
            let mut rest: u32 = nanos;
            while rest >= 128 {
                time.push(u8::try_from(rest & 127).unwrap() | 128);
                rest >>= 7;
            }
            time.push(u8::try_from(rest).unwrap());
            let lease = field(2, &field(4, &time));
            let object = read(&body("coordination.k8s.io/v1", "Lease", &lease));
            assert_eq!(object.unwrap()["spec"]["renewTime"], text);
        }
    }

    #[test]
    fn unknown_field_is_an_error_that_names_its_message() {
        let webhook = [field(1, b"a.b.c"), field(15, b"new")].concat();
        let configuration = body(
            "admissionregistration.k8s.io/v1",
            "MutatingWebhookConfiguration",
            &field(2, &webhook),
        );
        let nested = read(&configuration).unwrap_err().to_string();
        assert!(
            nested.starts_with("proto: unknown field number 15 in webhooks: "),
            "{nested}"
        );
        let top = read(&body("v1", "ConfigMap", &[15 << 3, 1]))
            .unwrap_err()
            .to_string();
        assert!(
            top.starts_with("proto: unknown field number 15 in the object: "),
            "{top}"
        );
    }

    #[test]
    fn unknown_field_with_its_zero_value_is_skipped() {
        for zero in [field(15, b""), vec![15 << 3, 0]] {
            assert!(read(&body("v1", "ConfigMap", &zero)).is_ok());
        }
    }

    #[test]
    fn invalid_body_is_an_error() {
        assert_eq!(read(b"{}"), Err(ProtobufError::Magic));
        let custom = body("example.com/v1", "Toy", &[]);
        assert!(matches!(read(&custom), Err(ProtobufError::Kind(_))));
        let cut = body("v1", "ConfigMap", &[10, 200]);
        assert_eq!(read(&cut), Err(ProtobufError::Truncated));
    }
}

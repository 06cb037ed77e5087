//! Objects of every kind, as Kubernetes' own code writes them: empty, with a value in every field,
//! and with zero values in all fields that distinguish them from absent ones
//! (`cargo xtask vectors`). Protobuf is read as the JSON of the same object.

use std::collections::BTreeSet;
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use kubewright_core::Kind;
use kubewright_wire::protobuf::{Layouts, ProtobufObject, from_protobuf};
use kubewright_wire::record::{Encoder, EncoderOptions, FieldTree};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Object {
    group: String,
    version: String,
    kind: String,
    json: Box<RawValue>,
    protobuf: String,
}

impl Object {
    fn kind(&self) -> Kind {
        Kind::new(
            self.group.as_str(),
            self.version.as_str(),
            self.kind.as_str(),
        )
    }

    fn json(&self) -> &[u8] {
        self.json.get().as_bytes()
    }

    fn protobuf(&self) -> Vec<u8> {
        STANDARD
            .decode(&self.protobuf)
            .expect("the objects are base64")
    }

    fn encoder(&self) -> Encoder {
        Encoder::new(EncoderOptions {
            kind: Some(self.kind()),
            field_manager: None,
        })
    }
}

fn objects() -> Vec<Object> {
    let packed = include_bytes!("../protobuf/objects.json.gz");
    let mut text = String::new();
    GzDecoder::new(packed.as_slice())
        .read_to_string(&mut text)
        .expect("the file is gzip");
    serde_json::from_str(&text).expect("the objects are JSON")
}

#[test]
fn record_of_protobuf_equals_the_record_of_json() {
    let table = Layouts::builtin();
    let mut seen = BTreeSet::new();
    for object in objects() {
        let kind = object.kind();
        let layout = table.of_kind(&kind).unwrap();
        let json = object.encoder().encode(object.json()).unwrap();
        let protobuf = object
            .encoder()
            .encode_protobuf(layout, &object.protobuf())
            .unwrap();
        assert_eq!(protobuf.to_value(), json.to_value(), "{kind}");
        // Records also compare the order of fields.
        assert_eq!(protobuf, json, "{kind}");
        seen.insert((kind.api_version(), kind.kind));
    }
    let kinds = table
        .kinds()
        .map(|(version, kind)| (version.to_owned(), kind.to_owned()));
    assert_eq!(seen, kinds.collect());
}

#[test]
fn value_of_protobuf_equals_the_value_of_json() {
    for object in objects() {
        let layout = Layouts::builtin().of_kind(&object.kind()).unwrap();
        let bytes = object.protobuf();
        let read = Value::deserialize(ProtobufObject::new(layout, &bytes)).unwrap();
        let json: Value = serde_json::from_slice(object.json()).unwrap();
        assert_eq!(read, json, "{}", object.kind());
    }
}

#[test]
fn request_body_in_protobuf_equals_the_object_in_json() {
    for object in objects() {
        let kind = object.kind();
        let meta = [
            field(1, kind.api_version().as_bytes()),
            field(2, kind.kind.as_bytes()),
        ];
        let body = [
            b"k8s\0".to_vec(),
            field(1, &meta.concat()),
            field(2, &object.protobuf()),
        ];
        let read = from_protobuf(&body.concat(), Layouts::builtin()).unwrap();
        let json: Value = serde_json::from_slice(object.json()).unwrap();
        assert_eq!(read, json, "{kind}");
    }
}

#[test]
fn projection_of_protobuf_equals_the_projection_of_json() {
    let tree = FieldTree::none()
        .with("metadata.name")
        .with("metadata.labels")
        .with("spec.containers.resources")
        .with("spec.template.spec.volumes")
        .with("status.conditions.type");
    for object in objects() {
        let layout = Layouts::builtin().of_kind(&object.kind()).unwrap();
        let mut encoder = object.encoder().keeping(tree.clone());
        let json = encoder.encode(object.json()).unwrap();
        let protobuf = encoder.encode_protobuf(layout, &object.protobuf()).unwrap();
        assert_eq!(protobuf, json, "{}", object.kind());
    }
}

#[test]
fn field_hash_of_protobuf_equals_the_hash_of_json() {
    let table = Layouts::builtin();
    let kind = Kind::new("", "v1", "ConfigMap");
    let layout = table.of_kind(&kind).unwrap();
    let fields = br#"{"f:data":{"f:a":{}}}"#;
    let entry = [
        field(1, b"web"),
        field(2, b"Apply"),
        field(6, b"FieldsV1"),
        field(7, &field(1, fields)),
        field(8, b""),
    ]
    .concat();
    let metadata = [field(1, b"name"), field(17, &entry)].concat();
    let mut encoder = Encoder::new(EncoderOptions {
        kind: Some(kind),
        field_manager: Some("web".to_owned()),
    });
    let protobuf = encoder
        .encode_protobuf(layout, &field(1, &metadata))
        .unwrap();
    let text = br#"{"metadata":{"name":"name","managedFields":[{"manager":"web","operation":"Apply","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}]}}"#;
    let json = encoder.encode(text).unwrap();
    assert!(json.field_hash().is_some());
    assert_eq!(protobuf.field_hash(), json.field_hash());
    assert_eq!(protobuf, json);
}

#[test]
fn object_truncated_anywhere_is_an_error_or_a_stub() {
    let object = objects()
        .into_iter()
        .filter(|object| object.kind == "Service")
        .max_by_key(|object| object.protobuf.len())
        .unwrap();
    let layout = Layouts::builtin().of_kind(&object.kind()).unwrap();
    let bytes = object.protobuf();
    let whole = object
        .encoder()
        .encode_protobuf_stub(layout, &bytes)
        .unwrap();
    assert_eq!(whole, object.encoder().encode_stub(object.json()).unwrap());
    let mut stubs = 0;
    for cut in 0..bytes.len() {
        let beginning = bytes.split_at(cut).0;
        // It must not panic. Truncated between two fields, it is a valid object.
        object.encoder().encode_protobuf(layout, beginning).ok();
        if let Ok(stub) = object.encoder().encode_protobuf_stub(layout, beginning) {
            assert_eq!(stub, whole, "{cut}");
            stubs += 1;
        }
    }
    assert!(stubs > 0 && stubs < bytes.len());
}

#[test]
fn corrupt_object_does_not_panic() {
    let object = objects()
        .into_iter()
        .filter(|object| object.kind == "Pod")
        .max_by_key(|object| object.protobuf.len())
        .unwrap();
    let layout = Layouts::builtin().of_kind(&object.kind()).unwrap();
    let bytes = object.protobuf();
    for at in (0..bytes.len()).step_by(31) {
        for flip in [1, 0x80, 0xff] {
            let mut corrupt = bytes.clone();
            corrupt[at] ^= flip;
            object.encoder().encode_protobuf(layout, &corrupt).ok();
        }
    }
}

#[test]
fn list_of_numbers_may_be_packed_and_interleaved() {
    let kind = Kind::new("", "v1", "Pod");
    let layout = Layouts::builtin().of_kind(&kind).unwrap();
    // spec.securityContext.supplementalGroups: two packed, another field, then one not packed.
    let context = [field(4, &[1, 0x96, 1]), vec![2 << 3, 7], vec![4 << 3, 3]].concat();
    let spec = field(14, &context);
    let bytes = field(2, &spec);
    let pod = Value::deserialize(ProtobufObject::new(layout, &bytes)).unwrap();
    let read = &pod["spec"]["securityContext"];
    assert_eq!(read["supplementalGroups"], serde_json::json!([1, 150, 3]));
    assert_eq!(read["runAsUser"], 7);
}

/// A field of a message with its number and content.
fn field(number: u8, inside: &[u8]) -> Vec<u8> {
    let mut head = Vec::new();
    let tag = u16::from(number) << 3 | 2;
    for mut rest in [usize::from(tag), inside.len()] {
        while rest >= 128 {
            head.push(u8::try_from(rest & 127).expect("seven bits") | 128);
            rest >>= 7;
        }
        head.push(u8::try_from(rest).expect("seven bits"));
    }
    [head, inside.to_vec()].concat()
}

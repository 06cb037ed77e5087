use kubewright_core::{GroupVersion, Kind};
use serde_json::{Map, Value, json};

use super::bytes::{Fields, Wire};
use super::special::{base64, signed, special, text};
use super::{MessageField, Messages, Shape};

/// What begins a body in Kubernetes' protobuf.
pub(super) const MAGIC: &[u8] = b"k8s\0";
/// Deeper than any kind of Kubernetes.
const DEEPEST: usize = 64;

/// A body that is not what its type says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtobufError {
    /// It does not begin as Kubernetes' protobuf does.
    #[error(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    )]
    Magic,
    /// It names a kind that is not sent in protobuf.
    #[error("{0} is not read from protobuf; send JSON")]
    Kind(Box<Kind>),
    /// It ends too early.
    #[error("unexpected EOF")]
    Truncated,
    /// A field is of a kind that does not exist.
    #[error("proto: illegal wireType {0}")]
    WireType(u64),
    /// Text that is none.
    #[error("proto: text that is no UTF-8")]
    Utf8,
    /// A time that no calendar has.
    #[error("proto: {0} seconds are no time")]
    Time(i64),
    /// A part in JSON that is none.
    #[error("proto: a raw part is no JSON")]
    Raw,
    /// Messages in messages without an end.
    #[error("proto: messages are nested too deeply")]
    Deep,
    /// A field that is sent as something else than its type.
    #[error("proto: a field is not of the type that its kind has for it")]
    Mismatch,
    /// The object does not have the shape that was asked for.
    #[error("{0}")]
    Unexpected(String),
}

impl serde::de::Error for ProtobufError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::Unexpected(message.to_string())
    }
}

/// Reads a body in protobuf into the value that JSON would have given, with its kind.
pub fn from_protobuf(bytes: &[u8], messages: &Messages) -> Result<Value, ProtobufError> {
    let envelope = bytes.strip_prefix(MAGIC).ok_or(ProtobufError::Magic)?;
    let (mut type_meta, mut raw): (&[u8], &[u8]) = (&[], &[]);
    let mut fields = Fields::new(envelope);
    while let Some((number, wire)) = fields.next()? {
        match (number, wire) {
            (1, Wire::Bytes(bytes)) => type_meta = bytes,
            (2, Wire::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let (mut api_version, mut name) = ("", "");
    let mut fields = Fields::new(type_meta);
    while let Some((number, wire)) = fields.next()? {
        match (number, wire) {
            (1, Wire::Bytes(bytes)) => api_version = text(bytes)?,
            (2, Wire::Bytes(bytes)) => name = text(bytes)?,
            _ => {}
        }
    }
    let kind = Kind {
        group_version: GroupVersion::from_api_version(api_version),
        kind: name.to_owned(),
    };
    let Some(message) = messages.of_kind(&kind) else {
        return Err(ProtobufError::Kind(Box::new(kind)));
    };
    let mut value = Reader { messages }.object(&message, raw, 0)?;
    value.insert("kind".to_owned(), json!(name));
    value.insert("apiVersion".to_owned(), json!(api_version));
    Ok(Value::Object(value))
}

struct Reader<'m> {
    messages: &'m Messages,
}

impl Reader<'_> {
    fn object(
        &self,
        name: &str,
        bytes: &[u8],
        depth: usize,
    ) -> Result<Map<String, Value>, ProtobufError> {
        if depth > DEEPEST {
            return Err(ProtobufError::Deep);
        }
        let mut object = Map::new();
        let known = self.messages.messages.get(name);
        let mut fields = Fields::new(bytes);
        while let Some((number, wire)) = fields.next()? {
            let field = known.and_then(|message| message.fields.get(&number));
            if let Some(field) = field {
                self.add(&mut object, field, wire, depth)?;
            }
        }
        Ok(object)
    }

    fn add(
        &self,
        object: &mut Map<String, Value>,
        field: &MessageField,
        wire: Wire<'_>,
        depth: usize,
    ) -> Result<(), ProtobufError> {
        match (field.shape, wire) {
            (Shape::Inline, Wire::Bytes(bytes)) => {
                object.extend(self.object(&field.kind, bytes, depth + 1)?);
            }
            (Shape::Map, Wire::Bytes(bytes)) => {
                let (key, value) = self.entry(&field.kind, bytes, depth)?;
                let map = object
                    .entry(field.name.as_str())
                    .or_insert_with(|| json!({}));
                if let Some(map) = map.as_object_mut() {
                    map.insert(key, value);
                }
            }
            (Shape::List, wire) => {
                let item = self.value(&field.kind, wire, depth)?;
                let list = object
                    .entry(field.name.as_str())
                    .or_insert_with(|| json!([]));
                if let Some(list) = list.as_array_mut() {
                    list.push(item);
                }
            }
            (_, wire) => {
                let value = self.value(&field.kind, wire, depth)?;
                object.insert(field.name.clone(), value);
            }
        }
        Ok(())
    }

    /// A map is sent as messages of a key and a value; an absent value is the zero of its type.
    fn entry(
        &self,
        kind: &str,
        bytes: &[u8],
        depth: usize,
    ) -> Result<(String, Value), ProtobufError> {
        let (mut key, mut value) = (String::new(), None);
        let mut fields = Fields::new(bytes);
        while let Some((number, wire)) = fields.next()? {
            match (number, wire) {
                (1, Wire::Bytes(bytes)) => key = text(bytes)?.to_owned(),
                (2, wire) => value = Some(self.value(kind, wire, depth)?),
                _ => {}
            }
        }
        let zero = || match kind {
            "string" | "bytes" => json!(""),
            "bool" => json!(false),
            "int32" | "int64" | "double" => json!(0),
            _ => Value::Null,
        };
        Ok((key, value.unwrap_or_else(zero)))
    }

    fn value(&self, kind: &str, wire: Wire<'_>, depth: usize) -> Result<Value, ProtobufError> {
        Ok(match (kind, wire) {
            ("bool", Wire::Varint(value)) => json!(value != 0),
            (_, Wire::Varint(value)) => json!(signed(value)),
            (_, Wire::Fixed64(value)) => json!(f64::from_bits(value)),
            (_, Wire::Fixed32(value)) => json!(f32::from_bits(value)),
            ("string", Wire::Bytes(bytes)) => json!(text(bytes)?),
            ("bytes", Wire::Bytes(bytes)) => base64(bytes),
            (message, Wire::Bytes(bytes)) => match special(message, bytes)? {
                Some(value) => value,
                None => Value::Object(self.object(message, bytes, depth + 1)?),
            },
        })
    }
}

#[cfg(feature = "tables")]
#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Messages, ProtobufError, from_protobuf};

    /// A field of a message: its number, and what is in it.
    fn field(number: u8, inside: &[u8]) -> Vec<u8> {
        let length = u8::try_from(inside.len()).unwrap();
        [&[number << 3 | 2, length], inside].concat()
    }

    fn body(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        let meta = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
        [b"k8s\0".to_vec(), field(1, &meta), field(2, raw)].concat()
    }

    fn read(bytes: &[u8]) -> Result<Value, ProtobufError> {
        from_protobuf(bytes, Messages::builtin())
    }

    #[test]
    fn a_config_map_reads_as_its_json() {
        let label = [field(1, b"x"), field(2, b"y")].concat();
        let metadata = [field(1, b"a"), field(8, &[]), field(11, &label)].concat();
        let data = [field(1, b"k"), field(2, b"v")].concat();
        let binary = [field(1, b"b"), field(2, b"hi")].concat();
        let raw = [field(1, &metadata), field(2, &data), field(3, &binary)].concat();
        assert_eq!(
            read(&body("v1", "ConfigMap", &raw)),
            Ok(json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "a", "creationTimestamp": null, "labels": {"x": "y"}},
                "data": {"k": "v"},
                "binaryData": {"b": "aGk="},
            }))
        );
    }

    #[test]
    fn structs_inside_of_structs_are_flat_where_json_has_them_flat() {
        let path = field(1, b"/data");
        let volume = [field(1, b"v"), field(2, &field(1, &path))].concat();
        let spec = field(1, &volume);
        let pod = read(&body("v1", "Pod", &field(2, &spec))).unwrap();
        assert_eq!(
            pod["spec"]["volumes"],
            json!([{"name": "v", "hostPath": {"path": "/data"}}])
        );
    }

    #[test]
    fn what_is_no_protobuf_of_kubernetes_is_refused() {
        assert_eq!(read(b"{}"), Err(ProtobufError::Magic));
        let custom = body("example.com/v1", "Toy", &[]);
        assert!(matches!(read(&custom), Err(ProtobufError::Kind(_))));
        let cut = body("v1", "ConfigMap", &[10, 200]);
        assert_eq!(read(&cut), Err(ProtobufError::Truncated));
    }
}

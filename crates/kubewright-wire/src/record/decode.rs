//! Deserialization of records.

use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::RecordError;
use super::node::{Array, Elements, Fields, Node, Object};

/// Reads one node.
pub(super) struct NodeDeserializer<'a>(Node<'a>);

impl<'a> NodeDeserializer<'a> {
    pub(super) fn new(node: Node<'a>) -> Self {
        Self(node)
    }
}

impl<'de> Deserializer<'de> for NodeDeserializer<'de> {
    type Error = RecordError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RecordError> {
        match self.0 {
            Node::Null => visitor.visit_unit(),
            Node::Bool(value) => visitor.visit_bool(value),
            Node::Unsigned(value) => visitor.visit_u64(value),
            Node::Negative(value) => visitor.visit_i64(value),
            Node::Float(value) => visitor.visit_f64(value),
            Node::Text(text) => visitor.visit_borrowed_str(text),
            Node::Object(object) => visitor.visit_map(ObjectAccess::new(object)),
            Node::Array(array) => visitor.visit_seq(ArrayAccess::new(array)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RecordError> {
        match self.0 {
            Node::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, RecordError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, RecordError> {
        match self.0 {
            Node::Text(text) => visitor.visit_enum(BorrowedStrDeserializer::new(text)),
            Node::Object(object) => {
                visitor.visit_enum(MapAccessDeserializer::new(ObjectAccess::new(object)))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    /// The cursor is already past the node, so there is nothing to skip.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RecordError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

struct ObjectAccess<'a> {
    fields: Fields<'a>,
    value: Node<'a>,
    hint: usize,
}

impl<'a> ObjectAccess<'a> {
    fn new(object: Object<'a>) -> Self {
        Self {
            hint: object.count_hint(),
            fields: object.into_iter(),
            value: Node::Null,
        }
    }
}

impl<'de> MapAccess<'de> for ObjectAccess<'de> {
    type Error = RecordError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, RecordError> {
        let Some((key, value)) = self.fields.next() else {
            return Ok(None);
        };
        self.value = value;
        self.hint = self.hint.saturating_sub(1);
        seed.deserialize(BorrowedStrDeserializer::new(key))
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, RecordError> {
        seed.deserialize(NodeDeserializer(self.value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.hint)
    }
}

struct ArrayAccess<'a> {
    elements: Elements<'a>,
    hint: usize,
}

impl<'a> ArrayAccess<'a> {
    fn new(array: Array<'a>) -> Self {
        Self {
            hint: array.count_hint(),
            elements: array.into_iter(),
        }
    }
}

impl<'de> SeqAccess<'de> for ArrayAccess<'de> {
    type Error = RecordError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, RecordError> {
        let Some(element) = self.elements.next() else {
            return Ok(None);
        };
        self.hint = self.hint.saturating_sub(1);
        seed.deserialize(NodeDeserializer(element)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.hint)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};

    use crate::record::{Record, RecordError};

    fn values() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            "[a-z]{0,8}",
            Just("Always".to_owned()),
            Just("metadata".to_owned()),
            any::<String>(),
            "x{100,300}",
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-40_i64..40).prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            text.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 200, 40, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..40).prop_map(Value::from),
                prop::collection::btree_map(text.clone(), inner, 0..40)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn record_decodes_to_the_value_of_its_json(value in values()) {
            let object = json!({"metadata": {"name": "web", "uid": "1"}, "any": value});
            let text = serde_json::to_vec(&object).unwrap();
            let read: Value = serde_json::from_slice(&text).unwrap();
            let record = Record::from_json(&text).unwrap();
            prop_assert_eq!(&record.to_value(), &read);
            prop_assert_eq!(record.name(), "web");
            prop_assert_eq!(record, Record::from_value(&read).unwrap());
        }
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Whole {
        count: i32,
        ratio: f64,
        maybe: Option<String>,
        names: BTreeMap<String, String>,
        policy: Policy,
        nested: Vec<(u8, Policy)>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Policy {
        Always,
        After { seconds: i64 },
        Named(String),
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Borrowed<'a> {
        maybe: &'a str,
    }

    #[test]
    fn record_decodes_into_a_type_as_json_does() {
        let whole = Whole {
            count: -7,
            ratio: 0.5,
            maybe: Some("yes".to_owned()),
            names: BTreeMap::from([("a".to_owned(), "b".to_owned())]),
            policy: Policy::Always,
            nested: vec![
                (1, Policy::After { seconds: -300 }),
                (2, Policy::Named("n".to_owned())),
            ],
        };
        let record = Record::from_json(&serde_json::to_vec(&whole).unwrap()).unwrap();
        assert_eq!(record.decode::<Whole>().unwrap(), whole);
        assert_eq!(record.decode::<Borrowed<'_>>().unwrap().maybe, "yes");
    }

    #[test]
    fn error_of_a_type_mismatch_contains_the_value() {
        let record = Record::from_json(br#"{"maybe":7}"#).unwrap();
        let error = record.decode::<Borrowed<'_>>().unwrap_err();
        assert!(matches!(&error, RecordError::Decode(_)), "{error:?}");
        assert!(error.to_string().contains("integer `7`"), "{error}");
    }

    #[test]
    fn invalid_json_and_other_values_than_objects_are_errors() {
        for bad in ["", "[]", "7", "{", r#"{"a":1}x"#, r#"{"a":tru}"#] {
            assert!(Record::from_json(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn selectable_field_is_found_by_its_path() {
        let object = json!({"spec": {
            "nodeName": "n1", "unschedulable": true, "a": [1], "replicas": 3, "offset": -1,
        }});
        let record = Record::from_value(&object).unwrap();
        for (path, text) in [
            ("spec.nodeName", Some("n1")),
            ("spec.unschedulable", Some("true")),
            ("spec.replicas", Some("3")),
            ("spec.offset", Some("-1")),
            ("spec.a", None),
            ("spec.missing", None),
            ("spec.nodeName.deeper", None),
        ] {
            assert_eq!(record.selectable(path).as_deref(), text, "{path}");
        }
    }
}

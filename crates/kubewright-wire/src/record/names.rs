//! The names of a type's own fields.

use std::cell::Cell;

use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::field_tree::FieldTree;
use super::probe::Absent;

type Names = &'static [&'static str];

impl FieldTree {
    /// The names of a type's own fields, without those of nested types; `None` for types that are
    /// not structs with fixed fields.
    pub fn names_of<T: DeserializeOwned>() -> Option<&'static [&'static str]> {
        let names = Cell::new(None);
        // It always fails, after it has recorded the names.
        T::deserialize(NameRecorder(&names)).map(drop).ok();
        names.get()
    }
}

/// A deserializer without values that records the names of a struct's fields.
///
/// Unlike [`FieldTree::of`] it does not visit the values of fields: it is used for every kind that an
/// operator watches, and the deserialization code of nested types would be compiled once more.
struct NameRecorder<'n>(&'n Cell<Option<Names>>);

impl<'de> Deserializer<'de> for NameRecorder<'_> {
    type Error = Absent;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Absent> {
        Err(Absent)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Absent> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Absent> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: Names,
        _visitor: V,
    ) -> Result<V::Value, Absent> {
        self.0.set(Some(fields));
        Err(Absent)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::Value;

    use super::FieldTree;

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only the names of the fields matter")]
    #[serde(rename_all = "camelCase")]
    struct Node {
        own_name: String,
        children: Vec<Node>,
    }

    #[derive(Deserialize)]
    struct Nothing {}

    #[test]
    fn names_of_a_struct_are_those_of_its_own_fields() {
        let names = Some(&["ownName", "children"][..]);
        assert_eq!(FieldTree::names_of::<Node>(), names);
        assert_eq!(FieldTree::names_of::<Option<Node>>(), names);
        assert_eq!(FieldTree::names_of::<Nothing>(), Some(&[][..]));
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only the names of the fields matter")]
    struct Flat {
        name: String,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    }

    #[test]
    fn type_without_fixed_fields_has_no_names() {
        assert_eq!(FieldTree::names_of::<Flat>(), None);
        assert_eq!(FieldTree::names_of::<Value>(), None);
        assert_eq!(FieldTree::names_of::<Vec<Node>>(), None);
    }
}

//! The fields that a type reads, found by deserializing it from a recording deserializer.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::field_tree::FieldTree;

impl FieldTree {
    /// The fields that a type reads when it is decoded: those of its structs, down to values that
    /// are not structs. Maps, enums, flattened fields and types with their own deserialization are
    /// selected completely, so that no field that the type could read is missing.
    ///
    /// ```
    /// use kubewright_wire::record::FieldTree;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// #[serde(rename_all = "camelCase")]
    /// struct Placement {
    ///     node_name: Option<String>,
    /// }
    /// #[derive(Deserialize)]
    /// struct Placed {
    ///     spec: Placement,
    /// }
    /// assert_eq!(FieldTree::of::<Placed>(), FieldTree::none().with("spec.nodeName"));
    /// ```
    pub fn of<T: DeserializeOwned>() -> Self {
        let notes = RefCell::new(Notes::default());
        loop {
            notes.borrow_mut().has_rejected = false;
            let probe = Probe {
                notes: &notes,
                path: Vec::new(),
                structs: Vec::new(),
            };
            let read = T::deserialize(probe);
            // A type stops at the first value that it rejects. The next attempt omits that value,
            // so that each attempt reads more than the one before.
            if read.is_ok() || !notes.borrow().has_rejected {
                break;
            }
        }
        notes.into_inner().tree()
    }
}

type Path = Vec<&'static str>;

#[derive(Default)]
struct Notes {
    /// Whether the value at a path is a struct, whose fields have their own paths.
    found: BTreeMap<Path, Shape>,
    /// Paths of rejected values, which later attempts omit.
    rejected: BTreeSet<Path>,
    /// Whether this attempt has found a rejected value.
    has_rejected: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Struct,
    Leaf,
}

impl Notes {
    fn reject(&mut self, path: &Path) {
        if !self.has_rejected {
            self.has_rejected = true;
            self.rejected.insert(path.clone());
        }
        // It may have failed before its shape was known.
        self.found.entry(path.clone()).or_insert(Shape::Leaf);
    }

    fn tree(self) -> FieldTree {
        if self.found.get(&Path::new()) != Some(&Shape::Struct) {
            return FieldTree::Whole;
        }
        self.found
            .into_iter()
            .fold(FieldTree::none(), |tree, (path, shape)| {
                let leaf = match shape {
                    Shape::Struct => FieldTree::none(),
                    Shape::Leaf => FieldTree::Whole,
                };
                tree.with_path(&path, leaf)
            })
    }
}

/// The error of a deserializer without values.
#[derive(Debug)]
pub(super) struct Absent;

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no value")
    }
}

impl std::error::Error for Absent {}

impl serde::de::Error for Absent {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

struct Probe<'n> {
    notes: &'n RefCell<Notes>,
    path: Path,
    /// The structs around this value, to stop at a recursive type.
    structs: Vec<&'static str>,
}

impl Probe<'_> {
    fn record(&self, shape: Shape) {
        self.notes
            .borrow_mut()
            .found
            .insert(self.path.clone(), shape);
    }
}

/// Values for the leaves of the type, so that it continues to read.
macro_rules! leaves {
    ($($method:ident => $visit:ident($($value:expr)?),)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Absent> {
            self.record(Shape::Leaf);
            visitor.$visit($($value)?)
        })*
    };
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Absent;

    leaves! {
        deserialize_any => visit_unit(),
        deserialize_bool => visit_bool(false),
        deserialize_i8 => visit_i64(0),
        deserialize_i16 => visit_i64(0),
        deserialize_i32 => visit_i64(0),
        deserialize_i64 => visit_i64(0),
        deserialize_i128 => visit_i64(0),
        deserialize_u8 => visit_u64(0),
        deserialize_u16 => visit_u64(0),
        deserialize_u32 => visit_u64(0),
        deserialize_u64 => visit_u64(0),
        deserialize_u128 => visit_u64(0),
        deserialize_f32 => visit_f64(0.0),
        deserialize_f64 => visit_f64(0.0),
        deserialize_char => visit_char('0'),
        deserialize_str => visit_borrowed_str(""),
        deserialize_string => visit_borrowed_str(""),
        deserialize_bytes => visit_borrowed_bytes(&[]),
        deserialize_byte_buf => visit_borrowed_bytes(&[]),
        deserialize_unit => visit_unit(),
        deserialize_identifier => visit_borrowed_str(""),
        deserialize_ignored_any => visit_unit(),
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

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Absent> {
        visitor.visit_seq(SingleElement(Some(self)))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Absent> {
        self.record(Shape::Leaf);
        visitor.visit_map(FieldNames {
            rest: &[],
            last: None,
            probe: &self,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Absent> {
        if self.structs.contains(&name) {
            self.record(Shape::Leaf);
            return Err(Absent);
        }
        self.record(Shape::Struct);
        self.structs.push(name);
        let mut names = FieldNames {
            rest: fields,
            last: None,
            probe: &self,
        };
        let read = visitor.visit_map(&mut names);
        // The struct rejected a value that its field's type accepted, or requires an omitted one.
        if let (Err(_), Some(last)) = (&read, &names.last) {
            self.notes.borrow_mut().reject(last);
        }
        read
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Absent> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _length: usize,
        _visitor: V,
    ) -> Result<V::Value, Absent> {
        self.record(Shape::Leaf);
        Err(Absent)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Absent> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Absent> {
        self.record(Shape::Leaf);
        Err(Absent)
    }
}

/// An array of one element: all elements have the same fields.
struct SingleElement<'n>(Option<Probe<'n>>);

impl<'de> SeqAccess<'de> for SingleElement<'_> {
    type Error = Absent;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Absent> {
        self.0
            .take()
            .map(|probe| seed.deserialize(probe))
            .transpose()
    }
}

/// The fields of a struct, each with a probe for its value.
struct FieldNames<'p, 'n> {
    rest: &'static [&'static str],
    last: Option<Path>,
    probe: &'p Probe<'n>,
}

impl<'de> MapAccess<'de> for FieldNames<'_, '_> {
    type Error = Absent;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Absent> {
        while let Some((name, rest)) = self.rest.split_first() {
            self.rest = rest;
            let mut path = self.probe.path.clone();
            path.push(name);
            if self.probe.notes.borrow().rejected.contains(&path) {
                continue;
            }
            self.last = Some(path);
            return seed
                .deserialize(BorrowedStrDeserializer::new(name))
                .map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Absent> {
        let path = self.last.clone().unwrap_or_default();
        let probe = Probe {
            notes: self.probe.notes,
            path: path.clone(),
            structs: self.probe.structs.clone(),
        };
        seed.deserialize(probe)
            .inspect_err(|_| self.probe.notes.borrow_mut().reject(&path))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde::de::{Deserializer, Error as _};
    use serde_json::Value;

    use super::FieldTree;

    /// Rejects every text but one, as a timestamp or an enum of strings does.
    #[derive(Debug)]
    struct Picky;

    impl<'de> Deserialize<'de> for Picky {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            match String::deserialize(deserializer)?.as_str() {
                "yes" => Ok(Self),
                _ => Err(D::Error::custom("not yes")),
            }
        }
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only the names of the fields matter")]
    #[serde(rename_all = "camelCase")]
    struct Inner {
        first: Picky,
        node_name: String,
        second: Option<Picky>,
        #[serde(default)]
        labels: BTreeMap<String, String>,
        any: Value,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only the names of the fields matter")]
    struct Outer {
        a: Picky,
        inner: Inner,
        list: Vec<Inner>,
        policy: Policy,
        #[serde(skip)]
        skipped: u8,
        last: (u8, u8),
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only the names of the variants matter")]
    enum Policy {
        One,
        Two { of: u8 },
    }

    #[test]
    fn every_field_is_found_although_other_fields_reject_their_values() {
        let mut expected = FieldTree::none().with("a").with("policy").with("last");
        for place in ["inner", "list"] {
            for field in ["first", "nodeName", "second", "labels", "any"] {
                expected = expected.with(&format!("{place}.{field}"));
            }
        }
        assert_eq!(FieldTree::of::<Outer>(), expected);
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only the names of the fields matter")]
    struct Node {
        name: String,
        children: Vec<Node>,
    }

    #[test]
    fn recursive_field_is_selected_completely() {
        let expected = FieldTree::none().with("name").with("children");
        assert_eq!(FieldTree::of::<Node>(), expected);
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only the names of the fields matter")]
    struct Flat {
        name: String,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    }

    #[test]
    fn type_without_fixed_fields_is_selected_completely() {
        assert_eq!(FieldTree::of::<Flat>(), FieldTree::Whole);
        assert_eq!(FieldTree::of::<Value>(), FieldTree::Whole);
        assert_eq!(FieldTree::of::<BTreeMap<String, Value>>(), FieldTree::Whole);
    }

    #[derive(Deserialize)]
    struct Nothing {}

    #[test]
    fn struct_without_fields_selects_none() {
        assert_eq!(FieldTree::of::<Nothing>(), FieldTree::none());
    }
}

//! Which fields a type reads, learnt by letting it read from a source that only takes notes.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::FieldTree;

impl FieldTree {
    /// The fields that a type reads when it is decoded: those of its structs, down to values that
    /// are no structs. Maps, enums, flattened fields and what the type reads in a way of its own
    /// are kept whole, so that nothing that it could look at is missing.
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
            notes.borrow_mut().blamed = false;
            let probe = Probe {
                notes: &notes,
                path: Vec::new(),
                structs: Vec::new(),
            };
            let read = T::deserialize(probe);
            // A type stops reading at the first value that it does not like. That one is left out
            // of the next attempt, so that each attempt comes further than the one before.
            if read.is_ok() || !notes.borrow().blamed {
                break;
            }
        }
        notes.into_inner().tree()
    }
}

type Path = Vec<&'static str>;

#[derive(Default)]
struct Notes {
    /// Whether the value at a path is a struct, whose fields have paths of their own.
    found: BTreeMap<Path, Shape>,
    /// Paths that need not be visited again.
    done: BTreeSet<Path>,
    /// Whether this attempt has found out where it fails.
    blamed: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Struct,
    Leaf,
}

impl Notes {
    fn blame(&mut self, path: &Path) {
        if !self.blamed {
            self.blamed = true;
            self.done.insert(path.clone());
        }
        // It has failed before it said what it is.
        self.found.entry(path.clone()).or_insert(Shape::Leaf);
    }

    fn tree(self) -> FieldTree {
        if self.found.get(&Path::new()) != Some(&Shape::Struct) {
            return FieldTree::Whole;
        }
        let found = self.found.into_iter();
        found.fold(FieldTree::none(), |tree, (path, shape)| {
            let leaf = match shape {
                Shape::Struct => FieldTree::none(),
                Shape::Leaf => FieldTree::Whole,
            };
            tree.with_path(&path, leaf)
        })
    }
}

/// A value that is not there.
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
    /// The structs around this place: one that holds itself is not followed for ever.
    structs: Vec<&'static str>,
}

impl Probe<'_> {
    fn note(&self, shape: Shape) {
        self.notes
            .borrow_mut()
            .found
            .insert(self.path.clone(), shape);
    }
}

/// Values that a leaf of the type is given, so that it goes on reading.
macro_rules! leaves {
    ($($method:ident => $visit:ident($($value:expr)?),)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Absent> {
            self.note(Shape::Leaf);
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
        visitor.visit_seq(OneElement(Some(self)))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Absent> {
        self.note(Shape::Leaf);
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
            self.note(Shape::Leaf);
            return Err(Absent);
        }
        self.note(Shape::Struct);
        self.structs.push(name);
        let mut names = FieldNames {
            rest: fields,
            last: None,
            probe: &self,
        };
        let read = visitor.visit_map(&mut names);
        // The struct did not like a value that its field's type took, or misses those left out.
        if let (Err(_), Some(last)) = (&read, &names.last) {
            self.notes.borrow_mut().blame(last);
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
        self.note(Shape::Leaf);
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
        self.note(Shape::Leaf);
        Err(Absent)
    }
}

/// An array of one element: all elements have the same fields.
struct OneElement<'n>(Option<Probe<'n>>);

impl<'de> SeqAccess<'de> for OneElement<'_> {
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
            if self.probe.notes.borrow().done.contains(&path) {
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
            .inspect_err(|_| self.probe.notes.borrow_mut().blame(&path))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde::de::{Deserializer, Error as _};
    use serde_json::Value;

    use super::FieldTree;

    /// Refuses everything but one word, as a timestamp or an enum of strings does.
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
    fn every_field_is_found_whatever_the_types_of_the_others_refuse() {
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
    fn a_type_that_holds_itself_is_kept_whole_where_it_does() {
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
    fn what_has_no_fixed_fields_is_kept_whole() {
        assert_eq!(FieldTree::of::<Flat>(), FieldTree::Whole);
        assert_eq!(FieldTree::of::<Value>(), FieldTree::Whole);
        assert_eq!(FieldTree::of::<BTreeMap<String, Value>>(), FieldTree::Whole);
    }

    #[derive(Deserialize)]
    struct Nothing {}

    #[test]
    fn a_struct_without_fields_keeps_an_empty_object() {
        assert_eq!(FieldTree::of::<Nothing>(), FieldTree::none());
    }
}

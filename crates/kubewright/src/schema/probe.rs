use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;

/// What a type asks its input for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Named fields.
    Struct {
        name: &'static str,
        fields: &'static [&'static str],
    },
    List(Box<Shape>),
    Map(Box<Shape>),
    Text,
    /// Anything else.
    Other,
}

/// The shape of a type: read from nothing, it says what it expects.
pub(super) fn shape_of<T: DeserializeOwned>() -> Shape {
    match T::deserialize(Probe) {
        Err(Seen(shape)) => shape,
        Ok(_) => Shape::Other,
    }
}

/// An input that has nothing and remembers what it was asked for.
struct Probe;

/// The answer, on the way that serde leaves open.
struct Seen(Shape);

impl<'de> Deserializer<'de> for Probe {
    type Error = Seen;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Seen> {
        Err(Seen(Shape::Other))
    }

    fn deserialize_str<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Seen> {
        Err(Seen(Shape::Text))
    }

    fn deserialize_string<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Seen> {
        Err(Seen(Shape::Text))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Seen> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: V,
    ) -> Result<V::Value, Seen> {
        Err(Seen(Shape::Struct { name, fields: &[] }))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Seen> {
        match visitor.visit_seq(self) {
            Err(Seen(item)) => Err(Seen(Shape::List(Box::new(item)))),
            ok => ok,
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Seen> {
        match visitor.visit_map(self) {
            Err(Seen(entry)) => Err(Seen(Shape::Map(Box::new(entry)))),
            ok => ok,
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Seen> {
        Err(Seen(Shape::Struct { name, fields }))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit
        unit_struct tuple tuple_struct enum identifier ignored_any
    }
}

impl<'de> SeqAccess<'de> for Probe {
    type Error = Seen;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Seen> {
        seed.deserialize(Self).map(Some)
    }
}

impl<'de> MapAccess<'de> for Probe {
    type Error = Seen;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Seen> {
        seed.deserialize(StrDeserializer::<Seen>::new("key"))
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Seen> {
        seed.deserialize(Self)
    }
}

impl de::Error for Seen {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(Shape::Other)
    }
}

impl std::error::Error for Seen {}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

//! Finds out the shape of a type by deserializing it from an empty input.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;

/// The input that a type expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A struct with named fields.
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

/// Returns the shape of a type: deserialized from an empty input, it requests its shape from serde.
pub(super) fn shape_of<T: DeserializeOwned>() -> Shape {
    match T::deserialize(Probe) {
        Err(RequestedShape(shape)) => shape,
        Ok(_) => Shape::Other,
    }
}

/// An empty input, whose error is the requested shape.
struct Probe;

/// The requested shape, as an error: the only result that serde lets an input return.
struct RequestedShape(Shape);

impl<'de> Deserializer<'de> for Probe {
    type Error = RequestedShape;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, RequestedShape> {
        Err(RequestedShape(Shape::Other))
    }

    fn deserialize_str<V: Visitor<'de>>(self, _: V) -> Result<V::Value, RequestedShape> {
        Err(RequestedShape(Shape::Text))
    }

    fn deserialize_string<V: Visitor<'de>>(self, _: V) -> Result<V::Value, RequestedShape> {
        Err(RequestedShape(Shape::Text))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RequestedShape> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: V,
    ) -> Result<V::Value, RequestedShape> {
        Err(RequestedShape(Shape::Struct { name, fields: &[] }))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RequestedShape> {
        match visitor.visit_seq(self) {
            Err(RequestedShape(item)) => Err(RequestedShape(Shape::List(Box::new(item)))),
            ok => ok,
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RequestedShape> {
        match visitor.visit_map(self) {
            Err(RequestedShape(entry)) => Err(RequestedShape(Shape::Map(Box::new(entry)))),
            ok => ok,
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, RequestedShape> {
        Err(RequestedShape(Shape::Struct { name, fields }))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit
        unit_struct tuple tuple_struct enum identifier ignored_any
    }
}

impl<'de> SeqAccess<'de> for Probe {
    type Error = RequestedShape;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, RequestedShape> {
        seed.deserialize(Self).map(Some)
    }
}

impl<'de> MapAccess<'de> for Probe {
    type Error = RequestedShape;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, RequestedShape> {
        seed.deserialize(StrDeserializer::<RequestedShape>::new("key"))
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, RequestedShape> {
        seed.deserialize(Self)
    }
}

impl de::Error for RequestedShape {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(Shape::Other)
    }
}

impl std::error::Error for RequestedShape {}

impl fmt::Display for RequestedShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl fmt::Debug for RequestedShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

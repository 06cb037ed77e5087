//! Types of a schema, with access to the types that they refer to.

use std::fmt;

use kubewright_core::Kind;
use serde_json::{Map as JsonMap, Value};

use super::types::{Field, List, Map, Scalar, Schema, Type, TypeId, UNTYPED_DEDUCED, Written};

/// One type of a [`Schema`], with access to the types that it refers to.
#[derive(Clone, Copy)]
pub struct SchemaType<'s> {
    pub(super) schema: &'s Schema,
    pub(super) id: TypeId,
}

/// The form of a value: scalar, list or map.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Atom<'s> {
    Scalar(Scalar),
    List(&'s List),
    Map(&'s Map),
}

impl Schema {
    /// The type of the objects of a kind.
    pub fn kind(&self, kind: &Kind) -> Option<SchemaType<'_>> {
        self.kinds.get(kind).map(|id| self.at(*id))
    }

    /// The type of objects without a schema: maps are granular, lists are atomic.
    pub fn untyped(&self) -> SchemaType<'_> {
        self.at(UNTYPED_DEDUCED)
    }

    /// Every struct with its Go name, package and type, such as `v1.Container`. Several structs may
    /// have one name: of several groups, and for fields that override the map type of a struct.
    pub fn structs(&self) -> impl Iterator<Item = (&str, SchemaType<'_>)> {
        let ids = (0..).map(TypeId).zip(&self.types);
        ids.filter_map(|(id, definition)| match definition {
            Type::Map(map) if !map.name.is_empty() => Some((map.name.as_str(), self.at(id))),
            _ => None,
        })
    }

    /// The type with this id.
    pub fn at(&self, id: TypeId) -> SchemaType<'_> {
        SchemaType { schema: self, id }
    }
}

impl<'s> SchemaType<'s> {
    /// The definition of the type.
    ///
    /// # Panics
    ///
    /// Never: an id is created only with its type.
    pub fn definition(&self) -> &'s Type {
        let index = usize::try_from(self.id.0).unwrap_or(usize::MAX);
        self.schema
            .types
            .get(index)
            .expect("an id is created only with its type")
    }

    /// The schema that the type belongs to.
    pub fn schema(&self) -> &'s Schema {
        self.schema
    }

    /// Another type of the same schema.
    pub fn at(&self, id: TypeId) -> Self {
        self.schema.at(id)
    }

    /// The struct or map, if the type can be one.
    pub fn map(&self) -> Option<&'s Map> {
        match self.definition() {
            Type::Map(map) => Some(map),
            Type::Any(any) => Some(&any.map),
            Type::Scalar(_) | Type::List(_) => None,
        }
    }

    /// The list, if the type can be one.
    pub fn list(&self) -> Option<&'s List> {
        match self.definition() {
            Type::List(list) => Some(list),
            Type::Any(any) => Some(&any.list),
            Type::Scalar(_) | Type::Map(_) => None,
        }
    }

    /// The declaration of a field.
    pub fn declared(&self, name: &str) -> Option<&'s Field> {
        self.map()?.fields.get(name)
    }

    /// The type of a field, or of the entries of a map.
    pub fn field(&self, name: &str) -> Option<Self> {
        self.at_field(self.map()?, name)
    }

    /// The type of a field or entry of a struct or map of this schema.
    pub(crate) fn at_field(&self, map: &Map, name: &str) -> Option<Self> {
        let id = map.fields.get(name).map(|field| field.type_id).or(map.rest);
        id.map(|id| self.at(id))
    }

    /// The id of the type in its schema.
    pub fn id(&self) -> TypeId {
        self.id
    }

    /// The type of the items of a list.
    pub fn item(&self) -> Option<Self> {
        self.list().map(|list| self.at(list.item))
    }

    /// Go's zero value of this type in JSON, with the fields that are always written.
    ///
    /// The API server compares a new object with it to find the fields that its creator owns.
    pub fn zero(&self) -> Value {
        let map = match self.definition() {
            Type::Map(map) => map,
            Type::Scalar(scalar) => return zero_of(*scalar),
            Type::Any(any) => return zero_of(any.scalar),
            Type::List(_) => return Value::Null,
        };
        let mut fields = JsonMap::new();
        for (name, field) in &map.fields {
            if let Some(unset) = self.unset(field) {
                fields.insert(name.clone(), unset);
            }
        }
        Value::Object(fields)
    }

    /// The JSON of a field that was never set; `None` when Go omits it.
    pub(super) fn unset(&self, field: &Field) -> Option<Value> {
        match field.written {
            Written::WhenSet | Written::WhenNotZero => None,
            Written::AlwaysOrNull => Some(Value::Null),
            Written::AlwaysOrZero => Some(self.at(field.type_id).zero()),
        }
    }

    /// The form of a value: the declared one, or that of the value itself if the type allows any.
    /// Null and absent values then count as maps.
    pub(crate) fn atom(&self, value: Option<&Value>) -> Atom<'s> {
        match self.definition() {
            Type::Scalar(scalar) => Atom::Scalar(*scalar),
            Type::List(list) => Atom::List(list),
            Type::Map(map) => Atom::Map(map),
            Type::Any(any) => match value {
                Some(Value::Array(_)) => Atom::List(&any.list),
                Some(Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
                    Atom::Scalar(any.scalar)
                }
                Some(Value::Object(_) | Value::Null) | None => Atom::Map(&any.map),
            },
        }
    }
}

fn zero_of(scalar: Scalar) -> Value {
    match scalar {
        Scalar::Text | Scalar::Bytes => Value::String(String::new()),
        Scalar::Bool => Value::Bool(false),
        Scalar::Int32 | Scalar::Int64 | Scalar::Float | Scalar::IntOrString => Value::from(0),
        Scalar::Quantity => Value::from("0"),
        Scalar::Time | Scalar::MicroTime | Scalar::Any => Value::Null,
    }
}

impl fmt::Debug for SchemaType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SchemaType")
            .field(self.definition())
            .finish()
    }
}

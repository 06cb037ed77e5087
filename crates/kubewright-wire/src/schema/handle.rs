use std::fmt;

use serde_json::{Map as JsonMap, Value};

use super::{Field, List, Map, Scalar, Schema, Type, TypeId, Written};

/// One type of a [`Schema`], with the way to those it refers to.
#[derive(Clone, Copy)]
pub struct SchemaType<'s> {
    pub(super) schema: &'s Schema,
    pub(super) id: TypeId,
}

/// What a value of a type is taken for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Atom<'s> {
    Scalar(Scalar),
    List(&'s List),
    Map(&'s Map),
}

impl<'s> SchemaType<'s> {
    /// What values of this type may be.
    ///
    /// # Panics
    ///
    /// Never: ids are handed out by the schema they index.
    pub fn definition(&self) -> &'s Type {
        let index = usize::try_from(self.id.0).unwrap_or(usize::MAX);
        self.schema
            .types
            .get(index)
            .expect("ids are handed out by the schema they index")
    }

    /// The schema that the type belongs to.
    pub fn schema(&self) -> &'s Schema {
        self.schema
    }

    /// Another type of the same schema.
    pub fn at(&self, id: TypeId) -> Self {
        self.schema.at(id)
    }

    /// The struct or map, where the type may be one.
    pub fn map(&self) -> Option<&'s Map> {
        match self.definition() {
            Type::Map(map) => Some(map),
            Type::Any(any) => Some(&any.map),
            Type::Scalar(_) | Type::List(_) => None,
        }
    }

    /// The list, where the type may be one.
    pub fn list(&self) -> Option<&'s List> {
        match self.definition() {
            Type::List(list) => Some(list),
            Type::Any(any) => Some(&any.list),
            Type::Scalar(_) | Type::Map(_) => None,
        }
    }

    /// The named field, as declared.
    pub fn declared(&self, name: &str) -> Option<&'s Field> {
        self.map()?.fields.get(name)
    }

    /// The type of the entry of that name: of the named field, or of further entries.
    pub fn field(&self, name: &str) -> Option<Self> {
        self.at_field(self.map()?, name)
    }

    /// The type of the entry of that name in a struct or map of this schema.
    pub(crate) fn at_field(&self, map: &Map, name: &str) -> Option<Self> {
        let id = map.fields.get(name).map(|field| field.type_id).or(map.rest);
        id.map(|id| self.at(id))
    }

    /// The type's place in its schema.
    pub fn id(&self) -> TypeId {
        self.id
    }

    /// The type of the items of a list.
    pub fn item(&self) -> Option<Self> {
        self.list().map(|list| self.at(list.item))
    }

    /// What Go's zero value of this type looks like in JSON: the fields that are written although
    /// they were never set.
    ///
    /// The API server compares a new object with this one to see what its creator owns.
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

    /// What Go writes for a field that was never set; none where it leaves it out.
    pub(super) fn unset(&self, field: &Field) -> Option<Value> {
        match field.written {
            Written::WhenSet | Written::WhenNotZero => None,
            Written::AlwaysOrNull => Some(Value::Null),
            Written::AlwaysOrZero => Some(self.at(field.type_id).zero()),
        }
    }

    /// What the value is taken for: its own form where the type takes any, the declared form
    /// where it takes one. Null and absent values of any form count as maps.
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

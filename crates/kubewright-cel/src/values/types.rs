//! Types of CEL as the checker infers them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::identifier::escape;

/// The type of an expression or of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Type {
    /// Any type, checked when the expression is evaluated.
    Dyn,
    /// The type of an invalid expression. It is compatible with every type, so that one error does
    /// not lead to others. No compiled program has it.
    Error,
    /// `null_type`.
    Null,
    /// `bool`.
    Bool,
    /// `int`, 64 bits with a sign.
    Int,
    /// `uint`, 64 bits without a sign.
    Uint,
    /// `double`.
    Double,
    /// `string`.
    String,
    /// `bytes`.
    Bytes,
    /// `google.protobuf.Duration`.
    Duration,
    /// `google.protobuf.Timestamp`.
    Timestamp,
    /// `list(T)`, and what identifies its items.
    List(Arc<Self>, ListShape),
    /// `map(K, V)`.
    Map(Arc<Self>, Arc<Self>),
    /// An object with declared fields.
    Object(Arc<ObjectType>),
    /// `optional_type(T)`.
    Optional(Arc<Self>),
    /// `type(T)`: a type as a value.
    Type(Arc<Self>),
    /// An object that an expression creates, with any fields: `Object.spec{..}`. Contains the name
    /// of its type.
    ObjectLiteral(Arc<str>),
    /// A type without fields that a library declares, such as `kubernetes.Quantity`.
    Opaque(&'static str),
}

/// What identifies the items of a list (`x-kubernetes-list-type`). It decides when two lists are
/// equal and what their sum is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListShape {
    /// Their positions: `x-kubernetes-list-type: atomic`.
    #[default]
    Atomic,
    /// Their values: `x-kubernetes-list-type: set`.
    Set,
    /// The values of the named fields: `x-kubernetes-list-type: map`.
    Map(Vec<String>),
}

/// An object type with its declared fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectType {
    name: String,
    fields: BTreeMap<String, Field>,
}

/// A declared field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// The name of the property in JSON.
    pub(crate) property: String,
    pub(crate) of: Type,
}

impl ObjectType {
    /// An object without fields. `name` is the name of the type in errors.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            fields: BTreeMap::new(),
        }
    }

    /// Adds a field that expressions select by the name of its property.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, of: Type) -> Self {
        self.insert(name, of);
        self
    }

    /// Adds a property of a schema. Expressions select it by its [escaped](escape) name; a property
    /// whose name cannot be escaped is not visible to expressions.
    #[must_use]
    pub fn property(mut self, name: &str, of: Type) -> Self {
        if let Some(escaped) = escape(name) {
            let property = name.to_owned();
            self.fields.insert(escaped, Field { property, of });
        }
        self
    }

    /// Sets the type of the field of that name.
    pub(crate) fn insert(&mut self, name: impl Into<String>, of: Type) {
        let property = name.into();
        self.fields.insert(property.clone(), Field { property, of });
    }

    /// The type of a field, by the name that expressions use.
    pub(crate) fn field_type(&self, name: &str) -> Option<&Type> {
        self.fields.get(name).map(|field| &field.of)
    }

    /// All fields, by the names that expressions use.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &Field)> {
        self.fields
            .iter()
            .map(|(name, field)| (name.as_str(), field))
    }
}

impl Type {
    /// A list whose items are identified by their positions.
    pub fn list(of: Self) -> Self {
        Self::List(Arc::new(of), ListShape::Atomic)
    }

    /// A map.
    pub fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new(key), Arc::new(value))
    }

    /// An optional value. An optional of an optional is one optional.
    pub(crate) fn optional(of: Self) -> Self {
        match of {
            Self::Optional(_) | Self::Error => of,
            of => Self::Optional(Arc::new(of)),
        }
    }

    /// The type of a type.
    pub(crate) fn type_of(of: Self) -> Self {
        Self::Type(Arc::new(of))
    }

    /// Whether the type is known only when the expression is evaluated, if at all.
    pub(crate) fn is_dynamic(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error)
    }

    /// Whether a value of one type can be used where the other is expected.
    pub(crate) fn is_compatible(&self, other: &Self) -> bool {
        match (self, other) {
            (left, right) if left.is_dynamic() || right.is_dynamic() => true,
            (Self::List(left, _), Self::List(right, _))
            | (Self::Optional(left), Self::Optional(right)) => left.is_compatible(right),
            (Self::Map(key, value), Self::Map(other_key, other_value)) => {
                key.is_compatible(other_key) && value.is_compatible(other_value)
            }
            (Self::Type(_), Self::Type(_)) => true,
            (Self::Null, other) | (other, Self::Null) => matches!(
                other,
                Self::Null
                    | Self::Object(_)
                    | Self::ObjectLiteral(_)
                    | Self::Opaque(_)
                    | Self::Duration
                    | Self::Timestamp
            ),
            (left, right) => left == right,
        }
    }

    /// The type of two compatible types together: the one that is known better.
    pub(crate) fn join(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::Null | Self::Error, _) => other,
            (Self::List(of, _), Self::List(..)) if of.is_dynamic() => other,
            (Self::Map(_, value), Self::Map(..)) if value.is_dynamic() => other,
            (Self::Optional(of), Self::Optional(_)) if of.is_dynamic() => other,
            _ => self,
        }
    }

    /// The name as `Type.String` of cel-go returns it. Some names differ from those in errors.
    pub(crate) fn declared_name(&self) -> String {
        match self {
            Self::Null => "null_type".to_owned(),
            Self::Duration => "google.protobuf.Duration".to_owned(),
            Self::Timestamp => "google.protobuf.Timestamp".to_owned(),
            other => other.to_string(),
        }
    }
}

/// The name as errors contain it (`FormatCELType` of cel-go).
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Dyn => "dyn",
            Self::Error => "!error!",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Duration => "duration",
            Self::Timestamp => "timestamp",
            Self::Opaque(name) => name,
            Self::Object(of) => &of.name,
            Self::ObjectLiteral(name) => name,
            Self::List(of, _) => return write!(f, "list({of})"),
            Self::Map(key, value) => return write!(f, "map({key}, {value})"),
            Self::Optional(of) => return write!(f, "optional_type({of})"),
            Self::Type(of) => return write!(f, "type({of})"),
        };
        f.write_str(name)
    }
}

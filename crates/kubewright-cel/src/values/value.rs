//! Values of CEL, their equality and their order.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kubewright_core::Quantity;

use super::cidr::Cidr;
use super::named_format::NamedFormat;
use super::types::ListShape;
use super::url::Url;
use super::version::Version;
use crate::error::EvaluationError;

/// The value of an expression or of a variable.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Value {
    /// `null`.
    Null,
    /// A `bool`.
    Bool(bool),
    /// An `int`.
    Int(i64),
    /// A `uint`.
    Uint(u64),
    /// A `double`.
    Double(f64),
    /// A `string`.
    String(Arc<str>),
    /// `bytes`.
    Bytes(Arc<[u8]>),
    /// A `google.protobuf.Duration`.
    Duration(SignedDuration),
    /// A `google.protobuf.Timestamp`.
    Timestamp(Timestamp),
    /// A list, and what identifies its items.
    List(Arc<[Self]>, Arc<ListShape>),
    /// A map, or an object by the names of its fields.
    Map(Arc<BTreeMap<Key, Self>>),
    /// `optional.of(..)` or `optional.none()`.
    Optional(Option<Arc<Self>>),
    /// A type, by its name.
    Type(Arc<str>),
    /// The result of `quantity(..)`.
    Quantity(Quantity),
    /// The result of `url(..)`.
    Url(Arc<Url>),
    /// The result of `ip(..)`.
    Ip(IpAddr),
    /// The result of `cidr(..)`.
    Cidr(Cidr),
    /// The result of `semver(..)`.
    Semver(Arc<Version>),
    /// The result of `format.named(..)`.
    Format(NamedFormat),
    /// An object that the expression creates.
    ObjectLiteral(Arc<ObjectLiteral>),
}

/// A key of a map. Integers are equal across `int` and `uint`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// A `bool`.
    Bool(bool),
    /// An `int`, or a `uint` of the range of `int`.
    Int(i64),
    /// A `uint` greater than the maximum of `int`.
    Uint(u64),
    /// A `string`.
    String(Arc<str>),
}

/// An object that an expression creates: `JSONPatch{..}`, `Object{..}`, `Object.spec{..}`.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectLiteral {
    /// The name of its type: `Object.spec`.
    pub name: Arc<str>,
    /// The fields that the expression sets.
    pub fields: BTreeMap<String, Value>,
}

/// The value of an expression or of a call.
pub(crate) type EvaluationResult = Result<Value, EvaluationError>;

impl Value {
    pub(crate) fn string(text: &str) -> Self {
        Self::String(text.into())
    }

    pub(crate) fn list(items: Vec<Self>) -> Self {
        Self::List(items.into(), Arc::default())
    }

    pub(crate) fn map(entries: BTreeMap<Key, Self>) -> Self {
        Self::Map(Arc::new(entries))
    }

    /// `optional.of(value)`.
    pub(crate) fn some(value: Self) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    /// A length or an index as an `int`.
    pub(crate) fn length(length: usize) -> Self {
        Self::Int(i64::try_from(length).unwrap_or(i64::MAX))
    }

    /// The name of the type.
    pub(crate) fn type_name(&self) -> &str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::List(..) => "list",
            Self::Map(_) => "map",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Url(_) => "kubernetes.URL",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::ObjectLiteral(object) => &object.name,
        }
    }

    /// Whether it is the zero value of its type.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(value) => !value,
            Self::Int(value) => *value == 0,
            Self::Uint(value) => *value == 0,
            Self::Double(value) => *value == 0.0,
            Self::String(text) => text.is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Duration(value) => value.is_zero(),
            Self::List(items, _) => items.is_empty(),
            Self::Map(entries) => entries.is_empty(),
            Self::Optional(value) => value.is_none(),
            Self::ObjectLiteral(object) => object.fields.is_empty(),
            _ => false,
        }
    }

    /// The value as a key of a map, if it can be one.
    pub(crate) fn key(&self) -> Option<Key> {
        Some(match self {
            Self::Bool(value) => Key::Bool(*value),
            Self::Int(number) => Key::Int(*number),
            Self::Uint(number) => i64::try_from(*number).map_or(Key::Uint(*number), Key::Int),
            Self::Double(number) => Key::Int(integer(*number)?),
            Self::String(text) => Key::String(Arc::clone(text)),
            _ => return None,
        })
    }

    /// The order of two values, or `None` if their types have no order.
    pub(crate) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Bool(left), Self::Bool(right)) => Some(left.cmp(right)),
            (Self::Int(left), Self::Int(right)) => Some(left.cmp(right)),
            (Self::Uint(left), Self::Uint(right)) => Some(left.cmp(right)),
            (Self::Int(left), Self::Uint(right)) => {
                Some(i128::from(*left).cmp(&i128::from(*right)))
            }
            (Self::Uint(left), Self::Int(right)) => {
                Some(i128::from(*left).cmp(&i128::from(*right)))
            }
            (Self::Double(left), right) => left.partial_cmp(&right.float()?),
            (left, Self::Double(right)) => left.float()?.partial_cmp(right),
            (Self::String(left), Self::String(right)) => Some(left.cmp(right)),
            (Self::Bytes(left), Self::Bytes(right)) => Some(left.cmp(right)),
            (Self::Duration(left), Self::Duration(right)) => Some(left.cmp(right)),
            (Self::Timestamp(left), Self::Timestamp(right)) => Some(left.cmp(right)),
            _ => None,
        }
    }

    /// The value of a number as a float.
    #[expect(
        clippy::cast_precision_loss,
        reason = "CEL compares numbers of different types as floats"
    )]
    pub(crate) fn float(&self) -> Option<f64> {
        match self {
            Self::Int(number) => Some(*number as f64),
            Self::Uint(number) => Some(*number as f64),
            Self::Double(number) => Some(*number),
            _ => None,
        }
    }
}

impl From<&Key> for Value {
    fn from(key: &Key) -> Self {
        match key {
            Key::Bool(value) => Self::Bool(*value),
            Key::Int(number) => Self::Int(*number),
            Key::Uint(number) => Self::Uint(*number),
            Key::String(text) => Self::String(Arc::clone(text)),
        }
    }
}

/// The equality of CEL: numbers are equal across types, the [`ListShape`] decides when lists are.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::List(left, shape), Self::List(right, _)) => has_same_items(left, right, shape),
            (Self::Map(left), Self::Map(right)) => left == right,
            (Self::Optional(left), Self::Optional(right)) => left == right,
            (Self::Type(left), Self::Type(right)) => left == right,
            (Self::Quantity(left), Self::Quantity(right)) => left.cmp_amount(right).is_eq(),
            (Self::Url(left), Self::Url(right)) => left == right,
            (Self::Ip(left), Self::Ip(right)) => left == right,
            (Self::Cidr(left), Self::Cidr(right)) => left == right,
            (Self::Semver(left), Self::Semver(right)) => left.order(right).is_eq(),
            (Self::Format(left), Self::Format(right)) => left == right,
            (Self::ObjectLiteral(left), Self::ObjectLiteral(right)) => left == right,
            (left, right) => left.order(right) == Some(Ordering::Equal),
        }
    }
}

fn has_same_items(left: &[Value], right: &[Value], shape: &ListShape) -> bool {
    if left.len() != right.len() {
        return false;
    }
    match shape {
        ListShape::Atomic => left.iter().eq(right.iter()),
        ListShape::Set | ListShape::Map(_) => left.iter().all(|item| right.contains(item)),
    }
}

/// The integer that a float is equal to, if there is one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "only floats without a fraction and within the range of i64 are cast"
)]
pub(crate) fn integer(number: f64) -> Option<i64> {
    let is_integer = number.fract() == 0.0 && (-9.2e18..=9.2e18).contains(&number);
    is_integer.then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{ListShape, Value};

    #[test]
    fn sets_are_equal_in_any_order_and_atomic_lists_are_not() {
        let list = |items: [i64; 2], shape: ListShape| {
            Value::List(items.map(Value::Int).into(), Arc::new(shape))
        };
        assert_eq!(list([1, 2], ListShape::Set), list([2, 1], ListShape::Set));
        assert_ne!(
            list([1, 2], ListShape::Atomic),
            list([2, 1], ListShape::Atomic)
        );
    }

    #[test]
    fn numbers_are_equal_across_types() {
        assert_eq!(Value::Int(1), Value::Uint(1));
        assert_eq!(Value::Double(1.0), Value::Int(1));
        assert_ne!(Value::Int(1), Value::string("1"));
        assert_eq!(Value::Double(2.0).key(), Value::Uint(2).key());
    }
}

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kubewright_wire::schema::Quantity;
use serde_json::Value as Json;

use super::functions::{Cidr, NamedFormat, Url, Version, parse_date, parse_duration};
use super::made::Made;
use super::types::{ListShape, Type};

/// A value that an expression is about or comes to.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
    Duration(SignedDuration),
    Timestamp(Timestamp),
    List(Arc<[Self]>, Arc<ListShape>),
    /// A map, or an object by the names of its fields.
    Map(Arc<BTreeMap<Key, Self>>),
    Optional(Option<Arc<Self>>),
    Type(Arc<str>),
    Quantity(Quantity),
    Url(Arc<Url>),
    Ip(IpAddr),
    Cidr(Cidr),
    Semver(Arc<Version>),
    Format(NamedFormat),
    Made(Arc<Made>),
}

/// What a map finds its values by. Whole numbers are the same whatever their type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Bool(bool),
    Int(i64),
    Uint(u64),
    String(Arc<str>),
}

impl Value {
    pub(crate) fn text(text: &str) -> Self {
        Self::String(text.into())
    }

    pub(super) fn list(items: Vec<Self>) -> Self {
        Self::List(items.into(), Arc::default())
    }

    pub(super) fn map(entries: BTreeMap<Key, Self>) -> Self {
        Self::Map(Arc::new(entries))
    }

    pub(super) fn some(value: Self) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    /// A number of things.
    pub(super) fn count(count: usize) -> Self {
        Self::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// What a part of an object is to expressions, by its declared type. What has no declared
    /// type is not there.
    pub(crate) fn from_json(json: &Json, of: &Type) -> Self {
        match (json, of) {
            (Json::Null, _) => Self::Null,
            (Json::Object(members), Type::Object(of)) => {
                let fields = of.fields.iter().filter_map(|(escaped, (name, of))| {
                    let value = Self::from_json(members.get(name)?, of);
                    Some((Key::String(escaped.as_str().into()), value))
                });
                Self::map(fields.collect())
            }
            (Json::Object(members), of) => {
                let below = match of {
                    Type::Map(_, below) => below,
                    _ => &Type::Dyn,
                };
                let entries = members.iter().map(|(name, value)| {
                    let key = Key::String(name.as_str().into());
                    (key, Self::from_json(value, below))
                });
                Self::map(entries.collect())
            }
            (Json::Array(items), of) => {
                let (below, shape) = match of {
                    Type::List(below, shape) => (&**below, shape.clone()),
                    _ => (&Type::Dyn, ListShape::default()),
                };
                let items = items.iter().map(|item| Self::from_json(item, below));
                Self::List(items.collect(), Arc::new(shape))
            }
            (Json::Bool(value), _) => Self::Bool(*value),
            (Json::Number(number), Type::Double) => {
                Self::Double(number.as_f64().unwrap_or_default())
            }
            (Json::Number(number), _) => match (number.as_i64(), number.as_f64()) {
                (Some(number), _) => Self::Int(number),
                (None, Some(number)) => whole(number).unwrap_or(Self::Double(number)),
                (None, None) => Self::Null,
            },
            (Json::String(text), of) => Self::from_text(text, of),
        }
    }

    /// A text of a declared format is what the format says.
    fn from_text(text: &str, of: &Type) -> Self {
        use base64::Engine as _;
        let read = match of {
            Type::Bytes => {
                let bytes = base64::engine::general_purpose::STANDARD.decode(text);
                bytes.ok().map(|bytes| Self::Bytes(bytes.into()))
            }
            Type::Duration => parse_duration(text).map(Self::Duration),
            Type::Timestamp => text
                .parse()
                .ok()
                .or_else(|| parse_date(text))
                .map(Self::Timestamp),
            _ => None,
        };
        read.unwrap_or_else(|| Self::text(text))
    }

    /// The name of its type.
    pub(super) fn type_name(&self) -> &str {
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
            Self::Made(made) => &made.name,
        }
    }

    /// Whether it is what a type has when nothing is set.
    pub(super) fn is_zero(&self) -> bool {
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
            Self::Made(made) => made.fields.is_empty(),
            _ => false,
        }
    }

    /// The value as a key.
    pub(super) fn key(&self) -> Option<Key> {
        Some(match self {
            Self::Bool(value) => Key::Bool(*value),
            Self::Int(number) => Key::Int(*number),
            Self::Uint(number) => i64::try_from(*number).map_or(Key::Uint(*number), Key::Int),
            Self::Double(number) => match whole(*number)? {
                Self::Int(number) => Key::Int(number),
                _ => return None,
            },
            Self::String(text) => Key::String(Arc::clone(text)),
            _ => return None,
        })
    }

    /// The order of two values; none where they have no order.
    pub(super) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Bool(one), Self::Bool(two)) => Some(one.cmp(two)),
            (Self::Int(one), Self::Int(two)) => Some(one.cmp(two)),
            (Self::Uint(one), Self::Uint(two)) => Some(one.cmp(two)),
            (Self::Int(one), Self::Uint(two)) => Some(i128::from(*one).cmp(&i128::from(*two))),
            (Self::Uint(one), Self::Int(two)) => Some(i128::from(*one).cmp(&i128::from(*two))),
            (Self::Double(one), other) => one.partial_cmp(&other.float()?),
            (one, Self::Double(two)) => one.float()?.partial_cmp(two),
            (Self::String(one), Self::String(two)) => Some(one.cmp(two)),
            (Self::Bytes(one), Self::Bytes(two)) => Some(one.cmp(two)),
            (Self::Duration(one), Self::Duration(two)) => Some(one.cmp(two)),
            (Self::Timestamp(one), Self::Timestamp(two)) => Some(one.cmp(two)),
            _ => None,
        }
    }

    /// A number as a float.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the language compares numbers across types as floats"
    )]
    pub(super) fn float(&self) -> Option<f64> {
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

/// Equal as the language has it: numbers across types, lists by what tells their items apart.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::List(one, shape), Self::List(two, _)) => same_items(one, two, shape),
            (Self::Map(one), Self::Map(two)) => one == two,
            (Self::Optional(one), Self::Optional(two)) => one == two,
            (Self::Type(one), Self::Type(two)) => one == two,
            (Self::Quantity(one), Self::Quantity(two)) => one.cmp_amount(two).is_eq(),
            (Self::Url(one), Self::Url(two)) => one == two,
            (Self::Ip(one), Self::Ip(two)) => one == two,
            (Self::Cidr(one), Self::Cidr(two)) => one == two,
            (Self::Semver(one), Self::Semver(two)) => one.order(two).is_eq(),
            (Self::Format(one), Self::Format(two)) => one == two,
            (Self::Made(one), Self::Made(two)) => one == two,
            (one, two) => one.order(two) == Some(Ordering::Equal),
        }
    }
}

fn same_items(one: &[Value], two: &[Value], shape: &ListShape) -> bool {
    if one.len() != two.len() {
        return false;
    }
    match shape {
        ListShape::Atomic => one.iter().eq(two.iter()),
        ListShape::Set | ListShape::Map(_) => one.iter().all(|item| two.contains(item)),
    }
}

/// A float that is a whole number, as one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "only what is whole and within the bounds is cast"
)]
pub(super) fn whole(number: f64) -> Option<Value> {
    let fits = number.fract() == 0.0 && (-9.2e18..=9.2e18).contains(&number);
    fits.then_some(Value::Int(number as i64))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{ListShape, Type, Value};

    #[test]
    fn a_set_is_equal_in_any_order() {
        let list = |shape: ListShape, items: serde_json::Value| {
            Value::from_json(&items, &Type::List(Arc::new(Type::Int), shape))
        };
        let (one, two) = (json!([1, 2]), json!([2, 1]));
        assert_eq!(
            list(ListShape::Set, one.clone()),
            list(ListShape::Set, two.clone())
        );
        assert_ne!(list(ListShape::Atomic, one), list(ListShape::Atomic, two));
    }

    #[test]
    fn numbers_are_equal_across_types() {
        assert_eq!(Value::Int(1), Value::Uint(1));
        assert_eq!(Value::Double(1.0), Value::Int(1));
        assert_ne!(Value::Int(1), Value::text("1"));
        assert_eq!(Value::Double(2.0).key(), Value::Uint(2).key());
    }
}

//! The representation of types.

use std::collections::BTreeMap;

use kubewright_core::Kind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The types of a set of kinds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    pub(super) types: Vec<Type>,
    pub(super) kinds: BTreeMap<Kind, TypeId>,
}

/// The id of a type in its [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TypeId(pub(super) u32);

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Type {
    /// Text, a number, a boolean.
    #[serde(rename = "s")]
    Scalar(Scalar),
    /// A list.
    #[serde(rename = "l")]
    List(List),
    /// A struct or a map.
    #[serde(rename = "m")]
    Map(Map),
    /// A value of any form.
    #[serde(rename = "a")]
    Any(Box<Any>),
}

/// The types of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scalar {
    /// Text.
    #[serde(rename = "s")]
    Text,
    /// Padded base64.
    #[serde(rename = "y")]
    Bytes,
    /// `true` or `false`.
    #[serde(rename = "b")]
    Bool,
    /// An integer of 32 bits.
    #[serde(rename = "i")]
    Int32,
    /// An integer of 64 bits.
    #[serde(rename = "l")]
    Int64,
    /// Any number.
    #[serde(rename = "f")]
    Float,
    /// A time in seconds.
    #[serde(rename = "t")]
    Time,
    /// A time in microseconds.
    #[serde(rename = "u")]
    MicroTime,
    /// A quantity, such as `500m`.
    #[serde(rename = "q")]
    Quantity,
    /// An integer or text; the JSON type stays.
    #[serde(rename = "o")]
    IntOrString,
    /// Any scalar.
    #[serde(rename = "x")]
    Any,
}

/// A list and how two of them merge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    /// The type of the items.
    #[serde(rename = "i")]
    pub item: TypeId,
    /// How server-side apply merges the list.
    #[serde(rename = "t", default, skip_serializing_if = "ListType::is_atomic")]
    pub list_type: ListType,
}

/// How server-side apply merges a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ListType {
    /// As one value, which has one owner and is replaced as a whole.
    #[default]
    #[serde(rename = "a")]
    Atomic,
    /// As a set of scalars.
    #[serde(rename = "s")]
    Set,
    /// As structs that are identified by these fields.
    #[serde(rename = "m")]
    Map(Vec<String>),
}

/// A struct (fields with names), a map (entries of one type), or both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Map {
    /// The Go name of the struct, such as `v1.Container`; empty without one.
    #[serde(rename = "n", default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The named fields.
    #[serde(rename = "f", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Field>,
    /// The type of all other entries; none when no others are allowed.
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<TypeId>,
    /// Whether server-side apply treats it as one value.
    #[serde(rename = "a", default, skip_serializing_if = "is_false")]
    pub atomic: bool,
}

/// A named field of a [`Map`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Its type.
    #[serde(rename = "t")]
    pub type_id: TypeId,
    /// The default in the OpenAPI document. Most are Go's zero values, which the server does not set;
    /// they are used for absent keys of list items.
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// When Go writes the field.
    #[serde(rename = "w", default, skip_serializing_if = "Written::is_when_set")]
    pub written: Written,
    /// How a strategic merge patch changes the field. By default structs and maps are merged, and
    /// other values are replaced.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<PatchStrategy>,
}

/// When Go writes a field, which determines the stored object and the field owners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Written {
    /// When it is set, to any value: pointers, and all fields of custom resources.
    #[default]
    #[serde(rename = "s")]
    WhenSet,
    /// When it is neither zero nor empty.
    #[serde(rename = "z")]
    WhenNotZero,
    /// Always, as null when it was never set.
    #[serde(rename = "n")]
    AlwaysOrNull,
    /// Always, as its zero value when it was never set.
    #[serde(rename = "v")]
    AlwaysOrZero,
}

/// How a strategic merge patch changes a field. Some keys differ from those of server-side apply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchStrategy {
    /// Whether the values are merged; otherwise the new one replaces the old.
    #[serde(rename = "m", default, skip_serializing_if = "is_false")]
    pub merge: bool,
    /// Whether fields that `$retainKeys` does not list are removed.
    #[serde(rename = "r", default, skip_serializing_if = "is_false")]
    pub retain_keys: bool,
    /// The field that identifies the items of a list of structs.
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub merge_key: Option<String>,
}

/// A type that allows scalars, lists and maps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Any {
    /// The type of a scalar.
    #[serde(rename = "s")]
    pub scalar: Scalar,
    /// The type of a list.
    #[serde(rename = "l")]
    pub list: List,
    /// The type of a map, and of an absent value.
    #[serde(rename = "m")]
    pub map: Map,
}

/// Atomic values without a schema.
pub(super) const UNTYPED_ATOMIC: TypeId = TypeId(0);
/// Values without a schema whose maps are granular.
pub(super) const UNTYPED_DEDUCED: TypeId = TypeId(1);

impl Schema {
    /// A schema with only the two types of values without a schema.
    pub(super) fn empty() -> Self {
        let untyped = |rest: TypeId, atomic: bool| {
            Type::Any(Box::new(Any {
                scalar: Scalar::Any,
                list: List {
                    item: UNTYPED_ATOMIC,
                    list_type: ListType::Atomic,
                },
                map: Map {
                    rest: Some(rest),
                    atomic,
                    ..Map::default()
                },
            }))
        };
        Self {
            types: vec![
                untyped(UNTYPED_ATOMIC, true),
                untyped(UNTYPED_DEDUCED, false),
            ],
            kinds: BTreeMap::new(),
        }
    }

    /// Every kind.
    pub fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.kinds.keys()
    }

    pub(super) fn add(&mut self, definition: Type) -> TypeId {
        let id = u32::try_from(self.types.len()).expect("a schema has far fewer than 2^32 types");
        self.types.push(definition);
        TypeId(id)
    }
}

impl Written {
    fn is_when_set(&self) -> bool {
        *self == Self::WhenSet
    }
}

impl ListType {
    fn is_atomic(&self) -> bool {
        *self == Self::Atomic
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference to its predicates"
)]
fn is_false(value: &bool) -> bool {
    !*value
}

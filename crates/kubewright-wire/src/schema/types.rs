use std::collections::BTreeMap;

use kubewright_core::Kind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SchemaType;

/// The types of a set of kinds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    pub(super) types: Vec<Type>,
    pub(super) kinds: BTreeMap<Kind, TypeId>,
}

/// A type's place in its [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TypeId(pub(super) u32);

/// What a value may be.
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
    /// Whatever the value turns out to be.
    #[serde(rename = "a")]
    Any(Box<Any>),
}

/// The forms of scalars.
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
    /// A whole number of 32 bits.
    #[serde(rename = "i")]
    Int32,
    /// A whole number of 64 bits.
    #[serde(rename = "l")]
    Int64,
    /// Any number.
    #[serde(rename = "f")]
    Float,
    /// A time in whole seconds.
    #[serde(rename = "t")]
    Time,
    /// A time in microseconds.
    #[serde(rename = "u")]
    MicroTime,
    /// An amount with a suffix, such as `500m`.
    #[serde(rename = "q")]
    Quantity,
    /// A whole number or text; the JSON type that was sent is kept.
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
    /// How server-side apply sees the list.
    #[serde(rename = "t", default, skip_serializing_if = "ListType::is_atomic")]
    pub list_type: ListType,
}

/// How server-side apply sees a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ListType {
    /// One value, owned and replaced whole.
    #[default]
    #[serde(rename = "a")]
    Atomic,
    /// Scalars, each once.
    #[serde(rename = "s")]
    Set,
    /// Structs told apart by these fields.
    #[serde(rename = "m")]
    Map(Vec<String>),
}

/// A struct (named fields), a map (further entries of one type), or both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Map {
    /// What Go calls the struct, such as `v1.Container`; empty where it has no name.
    #[serde(rename = "n", default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The named fields.
    #[serde(rename = "f", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Field>,
    /// The type of all other entries; none where there may be no others.
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<TypeId>,
    /// Whether server-side apply owns and replaces it whole.
    #[serde(rename = "a", default, skip_serializing_if = "is_false")]
    pub atomic: bool,
}

/// A named field of a [`Map`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Its type.
    #[serde(rename = "t")]
    pub type_id: TypeId,
    /// The default of the OpenAPI document. Most are Go's zero values, which no server fills in;
    /// the keys of lists fall back on all of them.
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// When Go writes the field.
    #[serde(rename = "w", default, skip_serializing_if = "Written::is_when_set")]
    pub written: Written,
    /// How a strategic merge patch sees the field; none means: merge structs and maps, replace
    /// all else.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<PatchStrategy>,
}

/// When Go writes a field, which decides what is stored and who owns what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Written {
    /// When it was set, to whatever value: pointers, and all fields of custom resources.
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

/// How a strategic merge patch sees a field; its keys differ from those of server-side apply in
/// places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchStrategy {
    /// Whether the values are merged; otherwise the new one replaces the old.
    #[serde(rename = "m", default, skip_serializing_if = "is_false")]
    pub merge: bool,
    /// Whether fields that the patch does not keep are removed.
    #[serde(rename = "r", default, skip_serializing_if = "is_false")]
    pub retain_keys: bool,
    /// The field that tells the items of a list of structs apart.
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub merge_key: Option<String>,
}

/// A type that takes scalars, lists and maps alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Any {
    /// What it is when it is a scalar.
    #[serde(rename = "s")]
    pub scalar: Scalar,
    /// What it is when it is a list.
    #[serde(rename = "l")]
    pub list: List,
    /// What it is when it is a map, or absent.
    #[serde(rename = "m")]
    pub map: Map,
}

/// Values without a schema that are owned whole.
pub(super) const UNTYPED_ATOMIC: TypeId = TypeId(0);
/// Values without a schema whose maps are owned entry by entry.
pub(super) const UNTYPED_DEDUCED: TypeId = TypeId(1);

impl Schema {
    /// A schema with only the two types of values that have none.
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

    /// The type of the objects of a kind.
    pub fn kind(&self, kind: &Kind) -> Option<SchemaType<'_>> {
        self.kinds.get(kind).map(|id| self.at(*id))
    }

    /// The type of objects without a schema: maps are owned entry by entry, lists whole.
    pub fn untyped(&self) -> SchemaType<'_> {
        self.at(UNTYPED_DEDUCED)
    }

    /// Every kind.
    pub fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.kinds.keys()
    }

    /// Every struct by the name that Go knows it by, package and type, such as `v1.Container`.
    /// A name may come several times: from several groups, and for fields that see the same
    /// struct differently.
    pub fn structs(&self) -> impl Iterator<Item = (&str, SchemaType<'_>)> {
        let ids = (0..).map(TypeId).zip(&self.types);
        ids.filter_map(|(id, definition)| match definition {
            Type::Map(map) if !map.name.is_empty() => Some((map.name.as_str(), self.at(id))),
            _ => None,
        })
    }

    /// The type at a place of this schema.
    pub fn at(&self, id: TypeId) -> SchemaType<'_> {
        SchemaType { schema: self, id }
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
    reason = "serde hands a reference to its predicates"
)]
fn is_false(value: &bool) -> bool {
    !*value
}

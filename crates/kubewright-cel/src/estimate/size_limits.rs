//! The sizes that a schema allows, and paths through them.

use std::collections::BTreeMap;

/// How large the values of a schema can be (`DeclType` of k8s.io/apiserver/pkg/cel).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeLimits {
    /// The maximum of characters, bytes, items or entries; zero for values without a size.
    pub most: u64,
    /// The minimum of bytes of a value in a request.
    pub least_bytes: u64,
    /// The fields of an object, by the names that expressions use.
    pub fields: BTreeMap<String, Self>,
    /// The keys of a map.
    pub key: Option<Box<Self>>,
    /// The items of a list, or the values of a map.
    pub element: Option<Box<Self>>,
}

/// A step from a value to a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Field(&'a str),
    Element,
    Key,
    /// The index of an item, which no schema describes.
    Index,
}

/// The part of a schema that describes a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin<'a> {
    /// The value is computed.
    Computed,
    Schema(&'a SizeLimits),
    /// The value is selected by a path that the schema does not declare.
    Undeclared,
}

impl<'a> Origin<'a> {
    /// The origin of a part of the value. A part of a computed value is taken for the root of the
    /// schema, as in Kubernetes, which ignores the first name of a path because it is that of a
    /// variable for all other values.
    pub(super) fn step(self, step: Step<'_>, root: &'a SizeLimits) -> Self {
        let limits = match self {
            Self::Computed => return Self::Schema(root),
            Self::Undeclared => return Self::Undeclared,
            Self::Schema(limits) => limits,
        };
        let part = match step {
            Step::Field(name) => limits.fields.get(name),
            Step::Element => limits.element.as_deref(),
            Step::Key => limits.key.as_deref(),
            Step::Index => None,
        };
        part.map_or(Self::Undeclared, Self::Schema)
    }
}

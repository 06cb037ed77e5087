use std::collections::BTreeMap;

/// How large the values of a schema can be (`DeclType` of k8s.io/apiserver/pkg/cel).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Declared {
    /// The most characters, bytes, items or entries; nothing for what has none.
    pub(crate) most: u64,
    /// The fewest bytes that it takes in a request.
    pub(crate) least_bytes: u64,
    /// The fields of an object, by the names that expressions use.
    pub(crate) fields: BTreeMap<String, Self>,
    /// The keys of a map.
    pub(crate) key: Option<Box<Self>>,
    /// The items of a list, or the values of a map.
    pub(crate) element: Option<Box<Self>>,
}

/// One step from a value to a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Field(&'a str),
    Element,
    Key,
    /// The number of an item, which no schema says anything about.
    Index,
}

/// Where in a schema a value comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'a> {
    /// From no place that is followed.
    Nowhere,
    At(&'a Declared),
    /// From a place that the schema does not know.
    Lost,
}

impl<'a> Place<'a> {
    /// A part of the value. What comes from nowhere is taken for the root, as Kubernetes takes it:
    /// it cuts off the first name of a path, which is that of a variable elsewhere.
    pub(super) fn step(self, step: Step<'_>, root: &'a Declared) -> Self {
        let declared = match self {
            Self::Nowhere => return Self::At(root),
            Self::Lost => return Self::Lost,
            Self::At(declared) => declared,
        };
        let below = match step {
            Step::Field(name) => declared.fields.get(name),
            Step::Element => declared.element.as_deref(),
            Step::Key => declared.key.as_deref(),
            Step::Index => None,
        };
        below.map_or(Self::Lost, Self::At)
    }
}

//! The macros of comprehensions. Those that can have one more argument accept a filter before the
//! body: `map(x, filter, body)`.

/// A macro that is called as a member.
#[derive(Clone, Copy, Debug)]
pub(super) struct Macro {
    name: &'static str,
    argument_count: usize,
    pub(super) kind: ComprehensionKind,
    /// How many of the first arguments are variables.
    pub(super) variable_count: usize,
}

/// What a comprehension computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComprehensionKind {
    All,
    Exists,
    ExistsOne,
    Map,
    Filter,
    TransformList,
    TransformMap,
    TransformMapEntry,
    SortBy,
    OptMap,
    OptFlatMap,
}

static MACROS: [Macro; 20] = [
    Macro::new("all", 2, ComprehensionKind::All, 1),
    Macro::new("all", 3, ComprehensionKind::All, 2),
    Macro::new("exists", 2, ComprehensionKind::Exists, 1),
    Macro::new("exists", 3, ComprehensionKind::Exists, 2),
    Macro::new("exists_one", 2, ComprehensionKind::ExistsOne, 1),
    Macro::new("exists_one", 3, ComprehensionKind::ExistsOne, 2),
    Macro::new("existsOne", 2, ComprehensionKind::ExistsOne, 1),
    Macro::new("existsOne", 3, ComprehensionKind::ExistsOne, 2),
    Macro::new("map", 2, ComprehensionKind::Map, 1),
    Macro::new("map", 3, ComprehensionKind::Map, 1),
    Macro::new("filter", 2, ComprehensionKind::Filter, 1),
    Macro::new("transformList", 3, ComprehensionKind::TransformList, 2),
    Macro::new("transformList", 4, ComprehensionKind::TransformList, 2),
    Macro::new("transformMap", 3, ComprehensionKind::TransformMap, 2),
    Macro::new("transformMap", 4, ComprehensionKind::TransformMap, 2),
    Macro::new(
        "transformMapEntry",
        3,
        ComprehensionKind::TransformMapEntry,
        2,
    ),
    Macro::new(
        "transformMapEntry",
        4,
        ComprehensionKind::TransformMapEntry,
        2,
    ),
    Macro::new("sortBy", 2, ComprehensionKind::SortBy, 1),
    Macro::new("optMap", 2, ComprehensionKind::OptMap, 1),
    Macro::new("optFlatMap", 2, ComprehensionKind::OptFlatMap, 1),
];

impl Macro {
    const fn new(
        name: &'static str,
        argument_count: usize,
        kind: ComprehensionKind,
        variable_count: usize,
    ) -> Self {
        Self {
            name,
            argument_count,
            kind,
            variable_count,
        }
    }

    /// The macro of that name with that many arguments.
    pub(super) fn find(name: &str, argument_count: usize) -> Option<Self> {
        let mut macros = MACROS.iter().copied();
        macros.find(|known| known.name == name && known.argument_count == argument_count)
    }
}

impl ComprehensionKind {
    /// Whether the range is an optional value.
    pub(crate) fn is_over_optional(self) -> bool {
        matches!(self, Self::OptMap | Self::OptFlatMap)
    }
}

use super::value::Value;

/// One node of a parsed expression.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    /// Where errors about it point: a byte of the source.
    pub(super) at: usize,
    pub(super) node: Node,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Literal(Value),
    Ident(String),
    /// `a.b`
    Select(Box<Expr>, String),
    /// `a.?b` and `a[?b]`
    MaybeSelect(Box<Expr>, Box<Expr>),
    /// `has(a.b)`
    Has(Box<Expr>, String),
    /// Functions, and operators under the names that cel-go gives them.
    Call(Call),
    /// `a && b && c` or `a || b || c`, flat, so that long chains nest nothing.
    Logic(Logic),
    /// `a ? b : c`
    Choice(Box<[Expr; 3]>),
    List(Vec<Item>),
    Map(Vec<Entry>),
    Loop(Box<Loop>),
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    /// What stands before the dot.
    pub(super) target: Option<Box<Expr>>,
    pub(super) name: String,
    pub(super) args: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub(super) struct Logic {
    /// What decides as soon as it is found: true for `||`, false for `&&`.
    pub(super) decides: bool,
    pub(super) args: Vec<Expr>,
    /// Where the operators stand.
    pub(super) operators: Vec<usize>,
}

impl Logic {
    pub(super) fn name(&self) -> &'static str {
        if self.decides { "_||_" } else { "_&&_" }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) value: Expr,
    /// `[?a]`: only when there is one.
    pub(super) is_optional: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: Expr,
    pub(super) value: Expr,
    /// `{?k: a}`: only when there is one.
    pub(super) is_optional: bool,
}

/// A macro that goes over something: `range.all(x, body)`.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) kind: LoopKind,
    pub(super) range: Expr,
    /// The names of the item, or of the index or key and the value.
    pub(super) names: Vec<String>,
    pub(super) filter: Option<Expr>,
    pub(super) body: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopKind {
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

impl LoopKind {
    /// The macro of that name with that many arguments: its kind and how many names it has.
    pub(super) fn find(name: &str, arguments: usize) -> Option<(Self, usize)> {
        Some(match (name, arguments) {
            ("all", 2) => (Self::All, 1),
            ("all", 3) => (Self::All, 2),
            ("exists", 2) => (Self::Exists, 1),
            ("exists", 3) => (Self::Exists, 2),
            ("exists_one" | "existsOne", 2) => (Self::ExistsOne, 1),
            ("exists_one" | "existsOne", 3) => (Self::ExistsOne, 2),
            ("map", 2 | 3) => (Self::Map, 1),
            ("filter", 2) => (Self::Filter, 1),
            ("transformList", 3 | 4) => (Self::TransformList, 2),
            ("transformMap", 3 | 4) => (Self::TransformMap, 2),
            ("transformMapEntry", 3 | 4) => (Self::TransformMapEntry, 2),
            ("sortBy", 2) => (Self::SortBy, 1),
            ("optMap", 2) => (Self::OptMap, 1),
            ("optFlatMap", 2) => (Self::OptFlatMap, 1),
            _ => return None,
        })
    }

    /// Whether it goes over an optional value.
    pub(super) fn is_optional(self) -> bool {
        matches!(self, Self::OptMap | Self::OptFlatMap)
    }
}

use super::types::Type;
use super::value::Value;

/// One node of a parsed expression.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    /// Where errors about it point: a byte of the source.
    pub(super) at: usize,
    pub(super) node: Node,
    /// What it comes to, once it was checked.
    pub(super) of: Type,
    /// How many nodes stand below each other.
    pub(super) height: usize,
}

impl Expr {
    /// A node that was not checked yet.
    pub(super) fn new(at: usize, node: Node) -> Self {
        let height = node.height() + 1;
        Self {
            at,
            node,
            of: Type::Unknown,
            height,
        }
    }
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
    /// `a.b{c: d}`
    Make(Make),
}

impl Node {
    /// The height of the highest node in it.
    fn height(&self) -> usize {
        match self {
            Self::Literal(_) | Self::Ident(_) => 0,
            Self::Select(operand, _) | Self::Has(operand, _) => operand.height,
            Self::MaybeSelect(operand, key) => operand.height.max(key.height),
            Self::Call(call) => {
                let target = call.target.as_ref().map_or(0, |target| target.height);
                target.max(highest(&call.args))
            }
            Self::Logic(logic) => highest(&logic.args),
            Self::Choice(parts) => highest(parts.iter()),
            Self::List(items) => highest(items.iter().map(|item| &item.value)),
            Self::Map(entries) => {
                highest(entries.iter().flat_map(|entry| [&entry.key, &entry.value]))
            }
            Self::Loop(of) => highest(of.filter.iter().chain([&of.range, &of.body])),
            Self::Make(make) => highest(make.members.iter().map(|member| &member.value)),
        }
    }
}

fn highest<'a>(all: impl IntoIterator<Item = &'a Expr>) -> usize {
    all.into_iter().map(|one| one.height).max().unwrap_or(0)
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

/// An object that is made, with the name of its type.
#[derive(Clone, Debug)]
pub(super) struct Make {
    pub(super) name: String,
    pub(super) members: Vec<Member>,
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Where errors about it point.
    pub(super) at: usize,
    pub(super) name: String,
    pub(super) value: Expr,
    /// `{?a: b}`: only when there is one.
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

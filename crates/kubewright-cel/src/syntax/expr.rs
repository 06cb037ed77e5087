//! The tree of a parsed expression.

use super::macros::ComprehensionKind;
use crate::values::Value;

/// A node of a parsed expression.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    /// The byte of the source at which errors about the node are reported.
    pub(crate) at: usize,
    pub(crate) node: Node,
    /// The number of nodes on the longest path down from this one.
    pub(crate) height: usize,
}

impl Expr {
    pub(super) fn new(at: usize, node: Node) -> Self {
        let height = node.height() + 1;
        Self { at, node, height }
    }

    /// A call of a function that is not a member.
    pub(super) fn call(at: usize, function: &str, args: Vec<Self>) -> Self {
        let call = Call {
            target: None,
            function: function.to_owned(),
            args,
        };
        Self::new(at, Node::Call(call))
    }

    /// `a.b.c`, if the expression consists of names only.
    pub(super) fn qualified_name(&self) -> Option<String> {
        match &self.node {
            Node::Ident(name) => Some(name.clone()),
            Node::Select(operand, field) => Some(format!("{}.{field}", operand.qualified_name()?)),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Literal(Value),
    Ident(String),
    /// `a.b`
    Select(Box<Expr>, String),
    /// `a.?b` and `a[?b]`
    OptionalSelect(Box<Expr>, Box<Expr>),
    /// `has(a.b)`
    Has(Box<Expr>, String),
    /// Functions, and operators under the names that cel-go gives them.
    Call(Call),
    /// `a && b && c` or `a || b || c`. A long chain is one node, so that it does not nest.
    Logic(Logic),
    /// `a ? b : c`
    Conditional(Box<[Expr; 3]>),
    List(Vec<Item>),
    Map(Vec<Entry>),
    Comprehension(Box<Comprehension>),
    /// `a.b{c: d}`
    Object(ObjectExpr),
}

impl Node {
    /// The height of the highest child.
    fn height(&self) -> usize {
        match self {
            Self::Literal(_) | Self::Ident(_) => 0,
            Self::Select(operand, _) | Self::Has(operand, _) => operand.height,
            Self::OptionalSelect(operand, key) => operand.height.max(key.height),
            Self::Call(call) => {
                let target = call.target.as_ref().map_or(0, |target| target.height);
                target.max(highest(&call.args))
            }
            Self::Logic(logic) => highest(&logic.args),
            Self::Conditional(parts) => highest(parts.iter()),
            Self::List(items) => highest(items.iter().map(|item| &item.value)),
            Self::Map(entries) => {
                highest(entries.iter().flat_map(|entry| [&entry.key, &entry.value]))
            }
            Self::Comprehension(of) => highest(of.filter.iter().chain([&of.range, &of.body])),
            Self::Object(object) => highest(object.members.iter().map(|member| &member.value)),
        }
    }
}

fn highest<'a>(exprs: impl IntoIterator<Item = &'a Expr>) -> usize {
    let heights = exprs.into_iter().map(|expr| expr.height);
    heights.max().unwrap_or(0)
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The expression before the dot.
    pub(crate) target: Option<Box<Expr>>,
    pub(crate) function: String,
    pub(crate) args: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub(crate) struct Logic {
    pub(crate) operator: LogicOperator,
    pub(crate) args: Vec<Expr>,
    /// The positions of the operators.
    pub(crate) operators_at: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogicOperator {
    And,
    Or,
}

impl LogicOperator {
    pub(super) fn token(self) -> &'static str {
        match self {
            Self::And => "&&",
            Self::Or => "||",
        }
    }

    /// The name of the function.
    pub(crate) fn function(self) -> &'static str {
        match self {
            Self::And => "_&&_",
            Self::Or => "_||_",
        }
    }

    /// The value of one operand that decides the result.
    pub(crate) fn deciding_value(self) -> bool {
        self == Self::Or
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) value: Expr,
    /// `[?a]`: the item is left out if the optional value is none.
    pub(crate) is_optional: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Expr,
    pub(crate) value: Expr,
    /// `{?k: a}`: the entry is left out if the optional value is none.
    pub(crate) is_optional: bool,
}

/// An object literal.
#[derive(Clone, Debug)]
pub(crate) struct ObjectExpr {
    pub(crate) type_name: String,
    pub(crate) members: Vec<Member>,
}

#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The byte of the source at which errors about the member are reported.
    pub(crate) at: usize,
    pub(crate) name: String,
    pub(crate) value: Expr,
    /// `{?a: b}`: the field is left out if the optional value is none.
    pub(crate) is_optional: bool,
}

/// A macro over a list, a map or an optional value: `range.all(x, body)`.
#[derive(Clone, Debug)]
pub(crate) struct Comprehension {
    pub(crate) kind: ComprehensionKind,
    pub(crate) range: Expr,
    /// The variable of the item, or those of the index or key and of the value.
    pub(crate) variables: Vec<String>,
    pub(crate) filter: Option<Expr>,
    pub(crate) body: Expr,
}

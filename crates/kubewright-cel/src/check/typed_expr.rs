//! The tree of a checked expression: with the types of its nodes, the overloads of its calls, and
//! names resolved to what they refer to.

use crate::functions::Resolution;
use crate::syntax::{ComprehensionKind, LogicOperator};
use crate::values::{Type, Value};

/// A node of a checked expression.
#[derive(Clone, Debug)]
pub(crate) struct TypedExpr {
    pub(crate) node: TypedNode,
    pub(crate) of: Type,
}

impl TypedExpr {
    pub(super) fn new(node: TypedNode, of: Type) -> Self {
        Self { node, of }
    }

    /// The node of an expression with an error. No program contains it.
    pub(super) fn invalid() -> Self {
        Self::new(TypedNode::Literal(Value::Null), Type::Error)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum TypedNode {
    Literal(Value),
    /// A variable of the environment.
    Variable(String),
    /// A variable of a comprehension: its index among those in scope, the outermost first.
    Local(usize),
    /// A type as a value, by its name.
    TypeName(&'static str),
    /// `a.b`
    Select(Box<TypedExpr>, String),
    /// `a.?b` and `a[?b]`
    OptionalSelect(Box<TypedExpr>, Box<TypedExpr>),
    /// `has(a.b)`
    Has(Box<TypedExpr>, String),
    /// A field of the composed variable, which has no value as a whole: `variables.a`.
    Composed(ComposedAccess, String),
    Call(TypedCall),
    Logic(LogicOperator, Vec<TypedExpr>),
    /// `a ? b : c`
    Conditional(Box<[TypedExpr; 3]>),
    List(Vec<TypedItem>),
    Map(Vec<TypedEntry>),
    Comprehension(Box<TypedComprehension>),
    Object(TypedObject),
}

/// How a field of the composed variable is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComposedAccess {
    /// `variables.a`
    Select,
    /// `variables.?a`
    OptionalSelect,
    /// `has(variables.a)`
    Has,
}

#[derive(Clone, Debug)]
pub(crate) struct TypedCall {
    pub(crate) resolution: Resolution,
    /// The arguments, with the receiver first.
    pub(crate) args: Vec<TypedExpr>,
}

#[derive(Clone, Debug)]
pub(crate) struct TypedItem {
    pub(crate) value: TypedExpr,
    pub(crate) is_optional: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct TypedEntry {
    pub(crate) key: TypedExpr,
    pub(crate) value: TypedExpr,
    pub(crate) is_optional: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct TypedObject {
    pub(crate) type_name: String,
    pub(crate) members: Vec<TypedMember>,
}

#[derive(Clone, Debug)]
pub(crate) struct TypedMember {
    pub(crate) name: String,
    pub(crate) value: TypedExpr,
    pub(crate) is_optional: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct TypedComprehension {
    pub(crate) kind: ComprehensionKind,
    pub(crate) range: TypedExpr,
    /// One variable for the item, or two for the index or key and the value.
    pub(crate) variable_count: usize,
    pub(crate) filter: Option<TypedExpr>,
    pub(crate) body: TypedExpr,
}

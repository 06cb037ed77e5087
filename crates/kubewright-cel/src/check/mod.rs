//! Checks a parsed expression: finds its types and the overloads of its calls.

mod checker;
mod comprehensions;
mod containers;
mod environment;
mod overloads;
mod typed_expr;

pub(crate) use checker::{Checked, check};
pub use environment::Environment;
pub(crate) use typed_expr::{
    ComposedAccess, TypedCall, TypedComprehension, TypedEntry, TypedExpr, TypedItem, TypedNode,
    TypedObject,
};

//! Parses the source of an expression.

mod containers;
mod expr;
mod macros;
mod number;
mod parse;
mod source_error;
mod token;

pub(crate) use expr::{
    Call, Comprehension, Entry, Expr, Item, Logic, LogicOperator, Node, ObjectExpr,
};
pub(crate) use macros::ComprehensionKind;
pub(crate) use parse::parse;
pub(crate) use source_error::{SourceError, render};

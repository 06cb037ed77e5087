//! The Common Expression Language as Kubernetes uses it: parsed, checked against the types of a
//! schema, and evaluated within a budget.
//!
//! The language is that of cel-go with the options of k8s.io/apiserver/pkg/cel/environment for
//! 1.36: optional values, comprehensions with two variables, numbers that compare across types,
//! and Kubernetes' own functions. Errors of types are told in cel-go's words and places. What is
//! missing (a time zone as an argument, the functions of `authorizer`) is refused by name when an
//! expression is compiled. The budget is our own: each step costs one, texts cost by their length.

mod budget;
mod check;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "webhooks with conditions are refused so far")
)]
mod condition;
mod environment;
mod escape;
mod evaluate;
mod expr;
mod functions;
mod loops;
mod parse;
mod problem;
mod program;
mod signatures;
mod token;
mod types;
mod value;

pub(crate) use budget::Budget;
#[expect(unused_imports, reason = "webhooks with conditions are refused so far")]
pub(crate) use condition::{Condition, ConditionInput};
pub(crate) use environment::Environment;
pub(crate) use escape::escape;
pub(crate) use functions::{parse_date, parse_duration, parse_timestamp};
pub(crate) use problem::{Fault, Refusal};
pub(crate) use program::{Program, Variables};
pub(crate) use types::{ListShape, ObjectType, Type};
pub(crate) use value::Value;

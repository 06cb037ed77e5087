//! The Common Expression Language as Kubernetes uses it: parsed, checked against the types of a
//! schema, and evaluated within a budget.
//!
//! The language is that of cel-go with the options of k8s.io/apiserver/pkg/cel/environment for
//! 1.36: optional values, comprehensions with two variables, numbers that compare across types,
//! and Kubernetes' own functions. Errors of types are told in cel-go's words and places. What is
//! missing (a time zone as an argument, `authorizer`, `variables` as a whole) is refused by name
//! when an expression is compiled. The budget is our own: each step costs one, texts cost by their
//! length. What is told of the cost before is Kubernetes' own count.

mod admission_types;
mod budget;
mod check;
mod compare;
mod composition;
mod condition;
mod environment;
mod escape;
mod estimate;
mod evaluate;
mod expr;
mod forms;
mod functions;
mod json;
mod loops;
mod made;
mod nodes;
mod parse;
mod problem;
mod program;
mod promises;
#[cfg(test)]
mod robust;
mod signatures;
mod token;
mod types;
mod value;

pub(crate) use budget::{Budget, SPENT};
pub(crate) use composition::{Composition, Lazy};
pub(crate) use condition::{Condition, ConditionInput, request_environment, webhook_environment};
pub(crate) use environment::Environment;
pub(crate) use escape::{escape, is_identifier};
pub(crate) use estimate::Declared;
pub(crate) use functions::{parse_date, parse_duration, parse_timestamp};
pub(crate) use made::{Made, PATCH, patch_type, type_mismatches};
pub(crate) use problem::{Fault, Refusal};
pub(crate) use program::{Program, Variables};
pub use promises::cel;
pub(crate) use types::{ListShape, ObjectType, Type};
pub(crate) use value::Value;

//! The units in which cel-go and Kubernetes estimate the cost of an expression.

mod call;
mod factors;
mod size;

pub(crate) use call::{
    CallEstimate, Estimator, Operand, Operands, constant, regex_cost, search_estimate,
};
pub(crate) use factors::{CREATE_LIST, CREATE_MAP, CREATE_OBJECT, STRING_CHARACTER};
pub(crate) use size::{SizeEstimate, ceil_div, scale};

//! The operator demo.

use kubewright::prelude::*;

/// The operator: what is registered here is what it does, and what it may do.
pub fn operator() -> Operator {
    Operator::new("demo").version(env!("CARGO_PKG_VERSION"))
}

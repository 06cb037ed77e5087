//! The operator demo.

use kubewright::prelude::*;

/// The operator: its controllers, webhooks and permissions follow from what is registered here.
pub fn operator() -> Operator {
    Operator::new("demo").version(env!("CARGO_PKG_VERSION"))
}

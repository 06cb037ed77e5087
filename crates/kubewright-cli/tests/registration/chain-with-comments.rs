//! Rewritten by hand, with remarks.

mod page; // pure functions

use kubewright::prelude::*;

pub fn operator() -> Operator {
    Operator::new("demo")
        // The version is the crate's.
        .version(env!("CARGO_PKG_VERSION"))
        .task("web", page::serve) // beside the controllers
}

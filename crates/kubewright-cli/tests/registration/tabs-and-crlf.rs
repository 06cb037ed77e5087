//! Saved by an editor on another system.

use kubewright::prelude::*;

pub fn operator() -> Operator {
	Operator::new("demo")
		.version("1")
}

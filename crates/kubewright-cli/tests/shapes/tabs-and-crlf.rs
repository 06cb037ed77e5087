//! Saved by an editor of another system.

use kubewright::prelude::*;

pub fn operator() -> Operator {
	Operator::new("demo")
		.version("1")
}

// Copyright Example Ltd.
use std::time::Duration;
use kubewright::prelude::*;

mod zebra;
pub mod apple;

pub const PERIOD: Duration = Duration::from_secs(  5  );

/* the operator */ pub fn operator() -> Operator { ( Operator::new("demo") ) }

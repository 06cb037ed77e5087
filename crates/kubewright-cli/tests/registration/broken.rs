use kubewright::prelude::*;

pub fn operator() -> Operator {
    Operator::new("demo"
}

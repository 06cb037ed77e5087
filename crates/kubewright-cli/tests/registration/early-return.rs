use kubewright::prelude::*;

pub fn operator() -> kubewright::Operator {
    return Operator::new("demo").version("1");
}

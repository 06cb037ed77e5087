use kubewright::prelude::*;

pub fn operator() -> Operator {
    match std::env::args().count() {
        1 => Operator::new("demo"),
        _ => Operator::new("demo").version("2"),
    }
}

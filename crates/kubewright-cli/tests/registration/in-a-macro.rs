use kubewright::prelude::*;

macro_rules! named {
    ($name:literal) => {
        Operator::new($name)
    };
}

pub fn operator() -> Operator {
    named!("demo")
}

use kubewright::prelude::*;

#[cfg(test)]
mod tests;

pub fn operator() -> Operator {
    let mut operator = Operator::new("demo");
    if cfg!(debug_assertions) {
        operator = operator.version("debug");
    }
    operator
}

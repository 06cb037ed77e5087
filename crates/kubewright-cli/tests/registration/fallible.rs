use kubewright::prelude::*;

pub fn operator() -> Result<Operator> {
    let version = std::fs::read_to_string("VERSION")?;
    Ok(Operator::new("demo")
        .version(version))
}

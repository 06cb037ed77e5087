//! Admission policies: rules in CEL that the API server evaluates itself.

mod builder;
mod checks;
mod description;
mod effect;
mod served;

pub use builder::Policy;
pub use effect::{Mutation, Validation};
pub(crate) use served::check_served;

pub use kubewright_core::{MissingParameter, NamedExpression, PolicyAction, PolicyEffect};

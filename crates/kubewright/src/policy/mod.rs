//! Admission policies: rules in CEL that the API server follows by itself, so that nobody has to
//! answer.

mod effect;
mod registered;
mod served;

pub use effect::{Mutation, Validation};
pub use registered::Policy;
pub(crate) use served::check_served;

pub use kubewright_core::{MissingParameter, NamedExpression, PolicyAction, PolicyEffect};

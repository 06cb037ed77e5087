//! Expressions about admission requests: match conditions and the variables of policies.

mod composition;
mod condition;
mod request_types;

pub use composition::{Composition, LazyVariables};
pub use condition::{Condition, ConditionInput, request_environment, webhook_environment};

//! Clients of an API server: connect, rate limit, retry, dry run, and the permissions that requests
//! are checked against.

pub use kubewright_runtime::RateLimit;
#[doc(inline)]
pub use kubewright_runtime::client::*;

pub use crate::permissions::Permissions;

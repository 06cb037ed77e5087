//! The resource, object and verb of a request, from its method, path and query.

mod parse;
mod query;

pub use parse::{ResourceRoute, Route};
pub use query::{Query, percent_decode};

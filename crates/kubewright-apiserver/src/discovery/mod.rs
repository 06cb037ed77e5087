//! The paths that are no resources: what the server offers, its version, its health.
//!
//! Not there: `/openapi/v2`, which answers 501.

mod aggregated;
mod answer;
mod health;
mod legacy;
mod version;

pub(crate) use answer::answer;

//! The paths that are no resources: what the server offers, its version, its health.
//!
//! Not there yet: `/openapi/v2` and `/openapi/v3`, which answer 501.

mod aggregated;
mod answer;
mod legacy;
mod version;

pub(crate) use answer::answer;

//! Paths outside the resources: discovery, version, health.
//!
//! `respond` finds the document of a path. `/openapi/v2` is not implemented and responds with 501.

mod aggregated;
mod health;
mod legacy;
mod respond;
mod served;
mod version;

pub(crate) use respond::{is_health, respond};

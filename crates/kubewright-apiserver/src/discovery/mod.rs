//! Paths outside the resources: discovery, version, health.
//!
//! Not implemented: `/openapi/v2`, which responds with 501.

mod aggregated;
mod health;
mod legacy;
mod respond;
mod served;
mod version;

pub(crate) use respond::respond;

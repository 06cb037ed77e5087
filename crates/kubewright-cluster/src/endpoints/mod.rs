//! EndpointSlices: where the Pods behind a Service are reached.
//!
//! Topology hints are not set, and no Endpoints objects are made.

mod endpoint;
mod slices;
mod sync;

pub(super) use sync::EndpointSlices;

//! EndpointSlice.

mod kind;
mod validation;

pub use kind::ENDPOINT_SLICE;

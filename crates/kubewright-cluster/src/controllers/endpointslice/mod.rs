//! The EndpointSlice controller: the addresses and ports of the Pods that a Service selects.
//!
//! Topology hints are not set, and no Endpoints objects are written.

mod controller;
mod endpoint;
mod new_slice;
mod slices;

pub(crate) use controller::EndpointSliceController;

//! The kinds of the group discovery.k8s.io.

mod endpoint_slice;

pub use endpoint_slice::ENDPOINT_SLICE;

//! The kinds of the group resource.k8s.io.

mod device_class;
mod device_requests;
mod resource_claim;
mod resource_claim_template;
mod resource_slice;

pub use device_class::DEVICE_CLASS;
pub use resource_claim::RESOURCE_CLAIM;
pub use resource_claim_template::RESOURCE_CLAIM_TEMPLATE;
pub use resource_slice::RESOURCE_SLICE;

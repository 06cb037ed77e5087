//! The kinds of the group networking.k8s.io.

mod ingress;
mod ingress_class;
mod ip_address;
mod network_policy;
mod service_cidr;

pub use ingress::INGRESS;
pub use ingress_class::INGRESS_CLASS;
pub use ip_address::IP_ADDRESS;
pub use network_policy::NETWORK_POLICY;
pub use service_cidr::SERVICE_CIDR;

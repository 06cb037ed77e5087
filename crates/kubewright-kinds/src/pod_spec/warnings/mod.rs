//! Warnings about a PodSpec (pkg/api/pod/warnings.go of k8s.io/kubernetes).

mod containers;
mod host_name;
mod paths;
mod ports;
mod scheduling;
mod spec;
mod volumes;

pub(crate) use containers::{each_container, warn_app_armor};
pub(crate) use host_name::warn_host_name;
pub(crate) use spec::{warn_pod_spec, warn_template};

//! Pods and templates of Pods (`pkg/api/pod/warnings.go` of k8s.io/kubernetes).

mod containers;
mod paths;
mod ports;
mod scheduling;
mod spec;
mod volumes;

#[cfg(test)]
mod tests;

pub(super) use spec::{host_name, pod, status, template};

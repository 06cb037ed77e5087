//! The kinds of the group apiregistration.k8s.io.

mod api_service;

pub use api_service::API_SERVICE;

//! The error of reading OpenAPI documents.

/// An OpenAPI document that is not one of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the OpenAPI schema {place}: {what}; take it from a Kubernetes API server")]
pub struct OpenApiError {
    place: String,
    what: String,
}

impl OpenApiError {
    pub(super) fn new(place: &str, what: impl Into<String>) -> Self {
        Self {
            place: place.to_owned(),
            what: what.into(),
        }
    }
}

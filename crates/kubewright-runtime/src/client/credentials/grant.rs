//! The credentials of one request.

use std::sync::Arc;

use http::HeaderValue;

use super::Identity;

/// The credentials of one request.
#[derive(Clone)]
pub(in crate::client) struct Grant {
    /// The value of `Authorization`.
    pub(in crate::client) header: Option<HeaderValue>,
    /// The client certificate of the connection.
    pub(in crate::client) identity: Option<Arc<Identity>>,
}

impl Grant {
    /// Whether both were issued together. Two equal certificates that were issued separately are
    /// not the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let (own, theirs) = (self.identity.as_ref(), other.identity.as_ref());
        self.header == other.header && is_same_identity(own, theirs)
    }
}

/// Whether connections with these certificates can be shared.
pub(in crate::client) fn is_same_identity(
    left: Option<&Arc<Identity>>,
    right: Option<&Arc<Identity>>,
) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => Arc::ptr_eq(left, right),
        (None, None) => true,
        _ => false,
    }
}

//! Responses to requests for objects.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::list::List;
use super::watch_stream::Watch;
use crate::store::Object;

/// The response to a request that succeeds.
#[derive(Debug)]
pub struct ApiResponse {
    /// The HTTP status.
    pub code: StatusCode,
    /// The body.
    pub body: ApiBody,
}

/// The kinds of bodies.
#[derive(Debug)]
#[non_exhaustive]
pub enum ApiBody {
    /// A stored object, or one as it would be stored.
    Object(Arc<Object>),
    /// A value that is not a stored object.
    Value(Value),
    /// A success without an object.
    Status(Box<Status>),
    /// Many objects.
    List(List),
    /// The changes of many objects.
    Watch(Box<Watch>),
    /// Plain text.
    Text(Bytes),
}

impl ApiResponse {
    pub(crate) fn new(code: StatusCode, body: ApiBody) -> Self {
        Self { code, body }
    }

    pub(crate) fn ok(body: ApiBody) -> Self {
        Self::new(StatusCode::OK, body)
    }

    /// A stored object.
    pub(crate) fn object(code: StatusCode, object: Arc<Object>) -> Self {
        Self::new(code, ApiBody::Object(object))
    }

    /// The plain text 404 for an unknown path.
    pub(crate) fn page_not_found() -> Self {
        let text = Bytes::from_static(b"404 page not found\n");
        Self::new(StatusCode::NOT_FOUND, ApiBody::Text(text))
    }

    /// The object in the body, for callers in this process.
    pub fn into_object(self) -> Option<Arc<Object>> {
        match self.body {
            ApiBody::Object(object) => Some(object),
            _ => None,
        }
    }
}

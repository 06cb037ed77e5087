//! The functions that handle reviews.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use kubewright_wire::review::{
    AdmissionRequest, AdmissionResponse, SubjectAccessReviewSpec, SubjectAccessReviewStatus,
};
use serde_json::Value;
use tokio::time::Instant;

/// Handles an admission request until the deadline.
pub type AdmissionHandler =
    Arc<dyn Fn(AdmissionRequest, Instant) -> BoxFuture<'static, AdmissionResponse> + Send + Sync>;

/// Converts an object to a version (`group/version`), or returns the error message.
pub type ConversionHandler = Arc<dyn Fn(Value, &str) -> Result<Value, String> + Send + Sync>;

/// Decides until the deadline whether a user may do something.
pub type AuthorizationHandler = Arc<
    dyn Fn(SubjectAccessReviewSpec, Instant) -> BoxFuture<'static, SubjectAccessReviewStatus>
        + Send
        + Sync,
>;

/// The handler of one path.
#[derive(Clone)]
pub(super) enum Route {
    Admission(AdmissionHandler),
    Conversion(ConversionHandler),
    Authorization(AuthorizationHandler),
}

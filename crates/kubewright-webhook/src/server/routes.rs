use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body_util::BodyExt as _;
use kubewright_wire::review::{
    AdmissionRequest, AdmissionResponse, SubjectAccessReviewSpec, SubjectAccessReviewStatus,
};
use serde_json::Value;
use tokio::time::Instant;

use super::answer::respond;

/// Answers a question about a request until the given time.
pub type AdmissionHandler =
    Arc<dyn Fn(AdmissionRequest, Instant) -> BoxFuture<'static, AdmissionResponse> + Send + Sync>;

/// Writes an object in the version asked for (`group/version`), or says why it cannot.
pub type ConversionHandler = Arc<dyn Fn(Value, &str) -> Result<Value, String> + Send + Sync>;

/// Answers whether a user may do something.
pub type AuthorizationHandler = Arc<
    dyn Fn(SubjectAccessReviewSpec, Instant) -> BoxFuture<'static, SubjectAccessReviewStatus>
        + Send
        + Sync,
>;

/// What is answered under which path.
#[derive(Clone, Default)]
pub struct Routes {
    routes: BTreeMap<String, Route>,
}

#[derive(Clone)]
pub(super) enum Route {
    Admission(AdmissionHandler),
    Conversion(ConversionHandler),
    Authorization(AuthorizationHandler),
}

impl Routes {
    /// Answers admission reviews under `path`; a later handler of the same path wins.
    #[must_use]
    pub fn admission(self, path: impl Into<String>, handler: AdmissionHandler) -> Self {
        self.with(path.into(), Route::Admission(handler))
    }

    /// Answers conversion reviews under `path`.
    #[must_use]
    pub fn conversion(self, path: impl Into<String>, handler: ConversionHandler) -> Self {
        self.with(path.into(), Route::Conversion(handler))
    }

    /// Answers questions of the API server whether a user may do something.
    #[must_use]
    pub fn authorization(self, path: impl Into<String>, handler: AuthorizationHandler) -> Self {
        self.with(path.into(), Route::Authorization(handler))
    }

    /// The paths under which something is answered.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.routes.keys().map(String::as_str)
    }

    /// Whether nothing is answered at all.
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }

    /// Answers what would have been posted to `path`, as the server does, but without one: for
    /// tests and measurements. None where nothing is answered.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the handler's own future is dropped where it stands.
    pub async fn answer(&self, path: &str, body: Bytes, deadline: Instant) -> Option<Bytes> {
        let response = respond(self.find(path)?, Ok(body), deadline, || {}).await;
        let Ok(collected) = response.into_body().collect().await;
        Some(collected.to_bytes())
    }

    fn with(mut self, path: String, route: Route) -> Self {
        self.routes.insert(path, route);
        self
    }

    pub(super) fn find(&self, path: &str) -> Option<&Route> {
        self.routes.get(path)
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.routes.keys()).finish()
    }
}

//! The paths of a webhook server and their handlers.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use tokio::time::Instant;

use super::handler::{AdmissionHandler, AuthorizationHandler, ConversionHandler, Route};
use super::response::respond;

/// The handlers of a webhook server, by path.
#[derive(Clone, Default)]
pub struct Routes {
    routes: BTreeMap<String, Route>,
}

impl Routes {
    /// Handles admission reviews at `path`. It replaces an earlier handler of the path.
    #[must_use]
    pub fn admission(self, path: impl Into<String>, handler: AdmissionHandler) -> Self {
        self.with(path.into(), Route::Admission(handler))
    }

    /// Handles conversion reviews at `path`.
    #[must_use]
    pub fn conversion(self, path: impl Into<String>, handler: ConversionHandler) -> Self {
        self.with(path.into(), Route::Conversion(handler))
    }

    /// Handles subject access reviews at `path`.
    #[must_use]
    pub fn authorization(self, path: impl Into<String>, handler: AuthorizationHandler) -> Self {
        self.with(path.into(), Route::Authorization(handler))
    }

    /// The paths that have a handler.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.routes.keys().map(String::as_str)
    }

    /// Whether no path has a handler.
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }

    /// Handles the body of a request for `path` as the server does, without one: for tests and
    /// benchmarks. `None` when the path has no handler.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the handler's future is dropped.
    pub async fn handle(&self, path: &str, body: Bytes, deadline: Instant) -> Option<Bytes> {
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

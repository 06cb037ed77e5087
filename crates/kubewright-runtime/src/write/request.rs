//! The requests for an object.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use kube::Client;
use kube::client::Body;
use kubewright_core::{ObjectKey, Resource};
use kubewright_wire::status::{Outcome, Status};
use tokio::time::timeout;

use super::WriteError;
use super::intent::{INVALID_PATH_SEGMENT, is_path_segment};
use crate::client::{Blocked, unwrap_service_error};

/// The timeout of a request: that of the API server (`--request-timeout`). kube's client has none.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// The media type of an apply patch; JSON is YAML.
const APPLY: &str = "application/apply-patch+yaml";
const MERGE: &str = "application/merge-patch+json";
const JSON: &str = "application/json";

/// A request for an object, and its description in errors.
#[derive(Debug)]
pub(super) struct ObjectRequest<'a> {
    pub(super) resource: &'a Resource,
    pub(super) key: &'a ObjectKey,
    /// Empty for the object itself.
    pub(super) subresource: &'static str,
    pub(super) verb: &'static str,
}

impl ObjectRequest<'_> {
    /// The description of the request, such as `apply pods web/a`.
    pub(super) fn what(&self) -> String {
        let slash = if self.subresource.is_empty() { "" } else { "/" };
        format!(
            "{} {}{slash}{} {}",
            self.verb,
            self.resource.qualified_name(),
            self.subresource,
            self.key
        )
    }

    /// Sends an apply patch and returns the object of the response.
    pub(super) async fn apply(
        &self,
        client: &Client,
        manager: &str,
        body: Vec<u8>,
    ) -> Result<Bytes, WriteError> {
        // Forced: controllers have the authority over the fields that they apply
        // (https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts).
        let query = format!("?fieldManager={manager}&force=true");
        let request = self.request(Method::PATCH, &query, APPLY, body)?;
        self.send(client, request).await
    }

    /// Sends a merge patch and returns the object of the response.
    pub(super) async fn merge(
        &self,
        client: &Client,
        manager: &str,
        body: Vec<u8>,
    ) -> Result<Bytes, WriteError> {
        let query = format!("?fieldManager={manager}");
        let request = self.request(Method::PATCH, &query, MERGE, body)?;
        self.send(client, request).await
    }

    /// Returns the current object.
    pub(super) async fn get(&self, client: &Client) -> Result<Bytes, WriteError> {
        let request = self.request(Method::GET, "", JSON, Vec::new())?;
        self.send(client, request).await
    }

    /// Creates the object and returns the object of the response.
    pub(super) async fn create(
        &self,
        client: &Client,
        manager: &str,
        body: Vec<u8>,
    ) -> Result<Bytes, WriteError> {
        let collection = self.resource.path(self.key.namespace());
        let target = format!("{collection}?fieldManager={manager}");
        let request = self.build(Method::POST, target, JSON, body)?;
        self.send(client, request).await
    }

    /// Sends a delete with the given options and returns the body of the response.
    pub(super) async fn delete(
        &self,
        client: &Client,
        options: Vec<u8>,
    ) -> Result<Bytes, WriteError> {
        let request = self.request(Method::DELETE, "", JSON, options)?;
        self.send(client, request).await
    }

    fn request(
        &self,
        method: Method,
        query: &str,
        media_type: &str,
        body: Vec<u8>,
    ) -> Result<Request<Body>, WriteError> {
        let mut names = [Some(self.key.name()), self.key.namespace()]
            .into_iter()
            .flatten();
        if !names.all(is_path_segment) {
            return Err(WriteError::Invalid {
                what: self.what(),
                why: INVALID_PATH_SEGMENT.to_owned(),
            });
        }
        let collection = self.resource.path(self.key.namespace());
        let slash = if self.subresource.is_empty() { "" } else { "/" };
        let (name, subresource) = (self.key.name(), self.subresource);
        let target = format!("{collection}/{name}{slash}{subresource}{query}");
        self.build(method, target, media_type, body)
    }

    fn build(
        &self,
        method: Method,
        target: String,
        media_type: &str,
        body: Vec<u8>,
    ) -> Result<Request<Body>, WriteError> {
        Request::builder()
            .method(method)
            .uri(target)
            .header(header::ACCEPT, JSON)
            .header(header::CONTENT_TYPE, media_type)
            .body(Body::from(body))
            .map_err(|source| WriteError::InvalidPath {
                what: self.what(),
                source,
            })
    }

    async fn send(&self, client: &Client, request: Request<Body>) -> Result<Bytes, WriteError> {
        let transport_error = |error: kube::Error| {
            let what = self.what();
            let is_blocked = Blocked::is_cause_of(&error);
            let source = unwrap_service_error(error);
            if is_blocked {
                WriteError::Blocked { what, source }
            } else {
                WriteError::NoResponse { what, source }
            }
        };
        let exchange = async {
            let response = client.send(request).await?;
            let code = response.status();
            let retry_after = response
                .headers()
                .get(header::RETRY_AFTER)
                .and_then(|value| value.to_str().ok()?.parse().ok());
            let body = response.into_body().collect_bytes().await?;
            Ok((code, retry_after, body))
        };
        let (code, retry_after, body) = match timeout(REQUEST_TIMEOUT, exchange).await {
            Ok(response) => response.map_err(transport_error)?,
            Err(elapsed) => {
                return Err(WriteError::NoResponse {
                    what: self.what(),
                    source: elapsed.into(),
                });
            }
        };
        if code.is_success() {
            return Ok(body);
        }
        let mut status = status_of(code, &body);
        // API priority and fairness sends the retry delay only in the header: its body is a line of
        // text.
        if let Some(seconds) = retry_after {
            let details = status.details.get_or_insert_default();
            details.retry_after_seconds = details.retry_after_seconds.max(seconds);
        }
        Err(WriteError::ErrorResponse {
            what: self.what(),
            source: Box::new(status),
        })
    }
}

/// The `Status` of an error response. For the response of a proxy, a status with its code and text.
fn status_of(code: StatusCode, body: &[u8]) -> Status {
    match serde_json::from_slice::<Status>(body) {
        Ok(status) if status.status == Some(Outcome::Failure) => status,
        _ => Status {
            status: Some(Outcome::Failure),
            code: code.as_u16(),
            message: format!(
                "response {code}: {}",
                String::from_utf8_lossy(body.get(..512).unwrap_or(body)).trim()
            ),
            ..Status::default()
        },
    }
}

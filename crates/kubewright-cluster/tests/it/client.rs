//! An HTTP client of a server in this process.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::{InProcess, Server, User};
use serde_json::Value;
use tower::ServiceExt;

/// Sends plain requests as one user.
#[derive(Clone, Debug)]
pub(crate) struct TestClient {
    service: InProcess,
}

/// The status code and the body of a response; null for a body that is not JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Response {
    pub(crate) code: u16,
    pub(crate) body: Value,
}

impl Response {
    /// The body of a successful response.
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert!(
            (200..300).contains(&self.code),
            "{}: {}",
            self.code,
            self.body
        );
        self.body
    }

    /// The code and the message of a failure.
    pub(crate) fn failure(&self) -> (u16, &str) {
        (self.code, self.body["message"].as_str().unwrap_or_default())
    }
}

impl TestClient {
    pub(crate) fn new(server: &Server, user: User) -> Self {
        Self {
            service: server.service(user),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.send(Method::GET, path, "application/json", None).await
    }

    /// The items of a list.
    pub(crate) async fn list(&self, path: &str) -> Vec<Value> {
        let list = self.get(path).await.ok();
        list["items"].as_array().expect("a list has items").clone()
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Response {
        self.send(Method::POST, path, "application/json", Some(body))
            .await
    }

    /// Sends a merge patch.
    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Response {
        let merge = "application/merge-patch+json";
        self.send(Method::PATCH, path, merge, Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Response {
        self.send(Method::DELETE, path, "application/json", None)
            .await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Response {
        let bytes = body.map(Value::to_string).unwrap_or_default();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(CONTENT_TYPE, content_type)
            .body(Full::<Bytes>::from(bytes))
            .expect("the path is valid");
        let Ok(response) = self.service.clone().oneshot(request).await;
        let code = response.status().as_u16();
        let collected = response.into_body().collect().await;
        let bytes = collected.expect("the body is complete").to_bytes();
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Response { code, body }
    }
}

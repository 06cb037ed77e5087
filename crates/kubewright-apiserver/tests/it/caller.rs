//! Plain HTTP requests to a server in this process.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use http::header::{CONTENT_TYPE, HeaderMap};
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::{InProcess, Server, User};
use serde_json::Value;
use tower::ServiceExt;

/// Calls a server as one user, with plain requests.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    service: InProcess,
    /// Sent with every request.
    pub(crate) headers: HeaderMap,
}

/// The status and the JSON of an answer; null for an answer that is not JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) body: Value,
}

impl Answer {
    /// The body of an answer that succeeded.
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

    /// The code and the message of an answer that failed.
    pub(crate) fn failure(&self) -> (u16, &str) {
        (self.code, self.body["message"].as_str().unwrap_or_default())
    }
}

impl Caller {
    pub(crate) fn new(server: &Server, user: User) -> Self {
        Self {
            service: server.service(user),
            headers: HeaderMap::new(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, "application/json", None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, "application/json", Some(body))
            .await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Answer {
        let merge = "application/merge-patch+json";
        self.send(Method::PATCH, path, merge, Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, "application/json", None)
            .await
    }

    async fn send(&self, method: Method, path: &str, kind: &str, body: Option<&Value>) -> Answer {
        let (code, bytes) = self.exchange(method, path, kind, body).await;
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Answer { code, body }
    }

    pub(crate) async fn exchange(
        &self,
        method: Method,
        path: &str,
        kind: &str,
        body: Option<&Value>,
    ) -> (u16, bytes::Bytes) {
        let bytes = body.map(Value::to_string).unwrap_or_default();
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(CONTENT_TYPE, kind)
            .body(Full::<bytes::Bytes>::from(bytes))
            .unwrap();
        request.headers_mut().extend(self.headers.clone());
        let answer = self.service.clone().oneshot(request).await.unwrap();
        let code = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        (code, bytes)
    }
}

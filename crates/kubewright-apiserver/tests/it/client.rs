//! A client that sends plain HTTP requests to a server in this process.

use std::borrow::Borrow;

use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use jiff::Timestamp;
use kubewright_apiserver::{AdmissionPlugins, InProcess, Server, ServerBody, ServerOptions, User};
use kubewright_core::Clock;
use serde_json::Value;
use tower::{Service, ServiceExt};

const VALID_REQUEST: &str = "requests of tests are valid";

/// A server without the plugins that need controllers.
pub(crate) fn server() -> Server {
    server_with(AdmissionPlugins::without_controllers())
}

/// A server with these plugins. Its clock starts at a fixed time and moves with tokio's.
pub(crate) fn server_with(admission: AdmissionPlugins) -> Server {
    let start: Timestamp = "2026-01-01T00:00:00Z"
        .parse()
        .expect("the text is a timestamp");
    Server::new(ServerOptions {
        clock: Clock::starting_at(start),
        admission,
        ..ServerOptions::default()
    })
}

/// Sends plain requests to a server, as one user.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    service: InProcess,
    /// Sent with every request.
    headers: HeaderMap,
}

/// The response to a request.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) code: u16,
    pub(crate) headers: HeaderMap,
    /// Null for a body that is not JSON.
    pub(crate) body: Value,
    pub(crate) text: String,
}

impl Response {
    /// The body of a success.
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        let is_success = (200..300).contains(&self.code);
        assert!(is_success, "{}: {}", self.code, self.text);
        self.body
    }

    /// The code and the message of a failure.
    pub(crate) fn failure(&self) -> (u16, &str) {
        (self.code, self.message())
    }

    pub(crate) fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }

    pub(crate) fn warnings(&self) -> Vec<&str> {
        let values = self.headers.get_all("warning").iter();
        values.filter_map(|value| value.to_str().ok()).collect()
    }
}

impl Client {
    pub(crate) fn new(server: &Server, user: User) -> Self {
        Self {
            service: server.service(user),
            headers: HeaderMap::new(),
        }
    }

    pub(crate) fn admin(server: &Server) -> Self {
        Self::new(server, User::admin())
    }

    /// Sends a header with every request.
    pub(crate) fn with_header(mut self, name: &'static str, value: &str) -> Self {
        let value = value.parse().expect("header values of tests are valid");
        self.headers.append(name, value);
        self
    }

    pub(crate) async fn open(
        &self,
        mut request: Request<Full<bytes::Bytes>>,
    ) -> http::Response<ServerBody> {
        request.headers_mut().extend(self.headers.clone());
        let mut service = self.service.clone();
        let ready = ServiceExt::<Request<Full<bytes::Bytes>>>::ready(&mut service).await;
        let Ok(service) = ready;
        let Ok(response) = service.call(request).await;
        response
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        media_type: &str,
        body: impl Into<bytes::Bytes>,
    ) -> Response {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", media_type)
            .header("user-agent", "it/1.0")
            .body(Full::new(body.into()))
            .expect(VALID_REQUEST);
        read(self.open(request).await).await
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.get_with(path, &[]).await
    }

    pub(crate) async fn accept(&self, path: &str, media_type: &str) -> Response {
        self.get_with(path, &[("accept", media_type)]).await
    }

    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        let mut builder = Request::get(path);
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        let request = builder.body(Full::default()).expect(VALID_REQUEST);
        read(self.open(request).await).await
    }

    pub(crate) async fn post(&self, path: &str, body: impl Borrow<Value>) -> Response {
        let json = body.borrow().to_string();
        self.send(Method::POST, path, "application/json", json)
            .await
    }

    pub(crate) async fn put(&self, path: &str, body: impl Borrow<Value>) -> Response {
        let json = body.borrow().to_string();
        self.send(Method::PUT, path, "application/json", json).await
    }

    /// Sends a merge patch.
    pub(crate) async fn merge(&self, path: &str, patch: impl Borrow<Value>) -> Response {
        let media_type = "application/merge-patch+json";
        let json = patch.borrow().to_string();
        self.send(Method::PATCH, path, media_type, json).await
    }

    /// Applies a configuration.
    pub(crate) async fn apply(&self, path: &str, configuration: impl Borrow<Value>) -> Response {
        let media_type = "application/apply-patch+yaml";
        let json = configuration.borrow().to_string();
        self.send(Method::PATCH, path, media_type, json).await
    }

    pub(crate) async fn delete(&self, path: &str, options: impl Borrow<Value>) -> Response {
        let json = options.borrow().to_string();
        self.send(Method::DELETE, path, "application/json", json)
            .await
    }

    /// Opens a watch.
    pub(crate) async fn watch(&self, path: &str) -> Events {
        let request = Request::get(path)
            .body(Full::default())
            .expect(VALID_REQUEST);
        let response = self.open(request).await;
        assert_eq!(response.status(), StatusCode::OK);
        Events {
            body: response.into_body(),
            pending: Vec::new(),
        }
    }

    /// All events of a watch that ends by itself.
    pub(crate) async fn events(&self, path: &str) -> Vec<Value> {
        let mut events = self.watch(path).await;
        let mut all = Vec::new();
        while let Some(event) = events.next().await {
            all.push(event);
        }
        all
    }
}

async fn read(response: http::Response<ServerBody>) -> Response {
    let (parts, body) = response.into_parts();
    let Ok(collected) = body.collect().await;
    let text = String::from_utf8(collected.to_bytes().to_vec()).expect("responses are text");
    Response {
        code: parts.status.as_u16(),
        headers: parts.headers,
        body: serde_json::from_str(&text).unwrap_or_default(),
        text,
    }
}

/// The events of a watch, one by one.
#[derive(Debug)]
pub(crate) struct Events {
    body: ServerBody,
    pending: Vec<Value>,
}

impl Events {
    /// The next event; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        while self.pending.is_empty() {
            let Ok(frame) = self.body.frame().await?;
            let data = frame.into_data().expect("bodies have no trailers");
            let text = String::from_utf8(data.to_vec()).expect("events are text");
            self.pending = text
                .lines()
                .map(|line| serde_json::from_str(line).expect("events are JSON"))
                .collect();
        }
        Some(self.pending.remove(0))
    }

    /// `TYPE name`, `TYPE` for an object without a name, `end` at the end.
    pub(crate) async fn brief(&mut self) -> String {
        let Some(event) = self.next().await else {
            return "end".to_owned();
        };
        let kind = event["type"].as_str().unwrap_or_default();
        match event["object"]["metadata"]["name"].as_str() {
            Some(name) => format!("{kind} {name}"),
            None => kind.to_owned(),
        }
    }
}

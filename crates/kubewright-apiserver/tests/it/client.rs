use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use jiff::Timestamp;
use kubewright_apiserver::{AdmissionPlugins, InProcess, Server, ServerBody, ServerOptions, User};
use kubewright_core::Clock;
use serde_json::Value;
use tower::{Service, ServiceExt};

/// A server whose clock starts at a fixed time and moves with tokio's.
pub(crate) fn server() -> Server {
    let start: Timestamp = "2026-01-01T00:00:00Z".parse().expect("written as one");
    Server::new(ServerOptions {
        clock: Clock::starting_at(start),
        admission: AdmissionPlugins::without_controllers(),
        ..ServerOptions::default()
    })
}

/// Sends plain requests to a server.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    service: InProcess,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
    pub(crate) text: String,
}

impl Answer {
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
        }
    }

    pub(crate) fn admin(server: &Server) -> Self {
        Self::new(server, User::admin())
    }

    pub(crate) async fn open(
        &self,
        request: Request<Full<bytes::Bytes>>,
    ) -> http::Response<ServerBody> {
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
        kind: &str,
        body: impl Into<bytes::Bytes>,
    ) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", kind)
            .header("user-agent", "it/1.0")
            .body(Full::new(body.into()))
            .expect("the test's request is one");
        answer(self.open(request).await).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[]).await
    }

    pub(crate) async fn accept(&self, path: &str, kind: &str) -> Answer {
        self.get_with(path, &[("accept", kind)]).await
    }

    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = Request::get(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::default());
        answer(self.open(request.expect("the test's request is one")).await).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, "application/json", body.to_string())
            .await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PUT, path, "application/json", body.to_string())
            .await
    }

    pub(crate) async fn merge(&self, path: &str, body: Value) -> Answer {
        let kind = "application/merge-patch+json";
        self.send(Method::PATCH, path, kind, body.to_string()).await
    }

    pub(crate) async fn apply(&self, path: &str, body: Value) -> Answer {
        let kind = "application/apply-patch+yaml";
        self.send(Method::PATCH, path, kind, body.to_string()).await
    }

    pub(crate) async fn delete(&self, path: &str, options: Value) -> Answer {
        self.send(
            Method::DELETE,
            path,
            "application/json",
            options.to_string(),
        )
        .await
    }

    /// Opens a watch.
    pub(crate) async fn watch(&self, path: &str) -> Events {
        let request = Request::get(path)
            .body(Full::default())
            .expect("the test's request is one");
        let response = self.open(request).await;
        assert_eq!(response.status(), StatusCode::OK);
        Events {
            body: response.into_body(),
            pending: Vec::new(),
        }
    }
}

async fn answer(response: http::Response<ServerBody>) -> Answer {
    let (parts, body) = response.into_parts();
    let Ok(collected) = body.collect().await;
    let text = String::from_utf8(collected.to_bytes().to_vec()).expect("answers are text");
    Answer {
        code: parts.status.as_u16(),
        headers: parts.headers,
        body: serde_json::from_str(&text).unwrap_or_default(),
        text,
    }
}

/// The events of a watch, one after the other.
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

    /// `TYPE name`, or `TYPE` for what has no name.
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

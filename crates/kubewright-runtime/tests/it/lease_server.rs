//! An API server with one Lease.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use http::{Method, Request, Response};
use http_body_util::BodyExt as _;
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::client::Body;
use kubewright_core::Clock;
use kubewright_runtime::election::{Candidate, ElectionTimes, Elector, Leadership};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// An API server with one Lease, which can be disconnected from each candidate.
#[derive(Clone, Default)]
pub(crate) struct LeaseServer {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    lease: Option<Value>,
    version: u64,
    /// The candidates whose requests get no response and no effect.
    disconnected: BTreeSet<String>,
    /// The candidates whose requests are executed without a response.
    without_response: BTreeSet<String>,
    requests: Vec<String>,
}

/// A running candidate.
pub(crate) struct Running {
    pub(crate) leadership: Leadership,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: JoinSet<()>,
}

impl Running {
    /// Stops the candidate and waits for its end.
    pub(crate) async fn stop(mut self) {
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
    }
}

impl LeaseServer {
    /// A running candidate with this clock skew.
    pub(crate) fn candidate(&self, identity: &str, skew: SignedDuration) -> Running {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        let clock = Clock::starting_at(start.checked_add(skew).expect("a time"));
        let candidate = Candidate {
            namespace: "shop".to_owned(),
            lease: "web".to_owned(),
            identity: identity.to_owned(),
            times: ElectionTimes::default(),
        };
        let (elector, leadership) = Elector::new(self.client(identity), clock, candidate)
            .expect("the default times are valid");
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(elector.run(stop.clone()));
        Running {
            leadership,
            stop,
            tasks,
        }
    }

    pub(crate) fn client(&self, identity: &str) -> Client {
        let (server, identity) = (self.clone(), identity.to_owned());
        let service = tower::service_fn(move |request: Request<Body>| {
            let (server, identity) = (server.clone(), identity.clone());
            async move { Ok::<_, Infallible>(server.handle(&identity, request).await) }
        });
        Client::new(service, "default")
    }

    pub(crate) fn disconnect(&self, identity: &str) {
        self.state.lock().disconnected.insert(identity.to_owned());
    }

    pub(crate) fn drop_responses(&self, identity: &str) {
        self.state
            .lock()
            .without_response
            .insert(identity.to_owned());
    }

    pub(crate) fn reconnect(&self, identity: &str) {
        let mut state = self.state.lock();
        state.disconnected.remove(identity);
        state.without_response.remove(identity);
    }

    pub(crate) fn holder(&self) -> String {
        let state = self.state.lock();
        let lease = state.lease.as_ref();
        let holder = lease.and_then(|lease| lease["spec"]["holderIdentity"].as_str());
        holder.unwrap_or_default().to_owned()
    }

    /// Changes the Lease as another client.
    pub(crate) fn steal(&self, change: impl FnOnce(&mut Value)) {
        let mut state = self.state.lock();
        state.version += 1;
        let version = state.version.to_string();
        let lease = state.lease.as_mut().expect("a lease");
        change(lease);
        lease["metadata"]["resourceVersion"] = json!(version);
    }

    pub(crate) fn delete(&self) {
        self.state.lock().lease = None;
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.state.lock().requests.clone()
    }

    async fn handle(&self, identity: &str, request: Request<Body>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        let response = {
            let mut state = self.state.lock();
            let is_connected = !state.disconnected.contains(identity);
            let response = is_connected.then(|| state.execute(&head.method, &body));
            response.filter(|_| !state.without_response.contains(identity))
        };
        let Some((code, body)) = response else {
            return std::future::pending().await;
        };
        let response = Response::builder().status(code);
        let body = Body::from(body.to_string().into_bytes());
        response.body(body).expect("a response")
    }
}

impl State {
    fn execute(&mut self, method: &Method, body: &[u8]) -> (u16, Value) {
        self.requests.push(method.to_string());
        let present = self.lease.clone();
        match (method.as_str(), present) {
            ("GET", Some(lease)) => (200, lease),
            ("GET" | "PUT" | "DELETE", None) => failure(404, "NotFound"),
            ("DELETE", Some(lease)) => {
                self.lease = None;
                (200, lease)
            }
            ("POST", Some(_)) => failure(409, "AlreadyExists"),
            (_, present) => {
                let mut lease: Value = serde_json::from_slice(body).expect("a lease");
                let version = |lease: &Value| lease["metadata"]["resourceVersion"].clone();
                if present.is_some_and(|present| version(&present) != version(&lease)) {
                    return failure(409, "Conflict");
                }
                self.version += 1;
                lease["metadata"]["resourceVersion"] = json!(self.version.to_string());
                self.lease = Some(lease.clone());
                (200, lease)
            }
        }
    }
}

fn failure(code: u16, reason: &str) -> (u16, Value) {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": reason, "reason": reason, "code": code,
    });
    (code, status)
}

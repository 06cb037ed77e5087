use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use kube::Client;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::server::text;

/// How long answers are believed, as controller-runtime has it.
const KNOWN: Duration = Duration::from_secs(60);
const ALLOWED: Duration = Duration::from_secs(300);
const DENIED: Duration = Duration::from_secs(30);
/// How long the API server may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many answers are remembered of each kind.
const REMEMBERED: usize = 1024;

/// Asks the API server who somebody is (TokenReview) and whether they may read a path
/// (SubjectAccessReview), and remembers the answers for a while.
#[derive(Clone)]
pub(crate) struct Access {
    client: Client,
    users: Arc<Mutex<Memory<String, Option<Value>>>>,
    decisions: Arc<Mutex<Memory<(String, String), bool>>>,
}

impl Access {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            users: Arc::default(),
            decisions: Arc::default(),
        }
    }

    /// Lets a request pass, or says why not.
    pub(super) async fn check(&self, head: &Parts) -> Result<(), Response<Full<Bytes>>> {
        let token = bearer(head).unwrap_or_default();
        let user = match self.user(token).await {
            Ok(Some(user)) => user,
            Ok(None) => return Err(text(StatusCode::UNAUTHORIZED, "Unauthorized\n")),
            Err(why) => {
                tracing::warn!("ask who reads the metrics: {why}");
                return Err(failed("Authentication failed\n".to_owned()));
            }
        };
        let name = user["username"].as_str().unwrap_or_default();
        match self.may(&user, head).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(text(
                StatusCode::FORBIDDEN,
                format!("Authorization denied for user {name}\n"),
            )),
            Err(why) => {
                tracing::warn!("ask whether {name} may read the metrics: {why}");
                Err(failed(format!("Authorization for user {name} failed\n")))
            }
        }
    }

    async fn user(&self, token: &str) -> Result<Option<Value>, String> {
        if token.is_empty() {
            return Ok(None);
        }
        if let Some(known) = self.users.lock().recall(&token.to_owned()) {
            return Ok(known);
        }
        let review = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token},
        });
        let path = "/apis/authentication.k8s.io/v1/tokenreviews";
        let mut status = self.ask(path, &review).await?;
        let user = match status["authenticated"] == true {
            true => Some(status["user"].take()),
            false => None,
        };
        let mut users = self.users.lock();
        users.remember(token.to_owned(), user.clone(), KNOWN);
        Ok(user)
    }

    async fn may(&self, user: &Value, head: &Parts) -> Result<bool, String> {
        let verb = match head.method {
            Method::GET | Method::HEAD => "get",
            _ => return Ok(false),
        };
        let path = head.uri.path();
        let key = (user.to_string(), path.to_owned());
        if let Some(known) = self.decisions.lock().recall(&key) {
            return Ok(known);
        }
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": user["username"],
                "uid": user["uid"],
                "groups": user["groups"],
                "extra": user["extra"],
                "nonResourceAttributes": {"path": path, "verb": verb},
            },
        });
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        let allowed = self.ask(path, &review).await?["allowed"] == true;
        let lasts = if allowed { ALLOWED } else { DENIED };
        self.decisions.lock().remember(key, allowed, lasts);
        Ok(allowed)
    }

    /// The status of a review.
    async fn ask(&self, path: &str, review: &Value) -> Result<Value, String> {
        let request = Request::post(path)
            .header("content-type", "application/json")
            .body(review.to_string().into_bytes())
            .map_err(|error| error.to_string())?;
        let answer = timeout(PATIENCE, self.client.request::<Value>(request)).await;
        let answer = answer.map_err(|_| format!("no answer for {PATIENCE:?}"))?;
        let mut review = answer.map_err(|error| error.to_string())?;
        Ok(review["status"].take())
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}

fn failed(why: String) -> Response<Full<Bytes>> {
    text(StatusCode::INTERNAL_SERVER_ERROR, why)
}

fn bearer(head: &Parts) -> Option<&str> {
    let value = head.headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Answers, each until its time is up.
struct Memory<K, V> {
    answers: HashMap<K, (V, Instant)>,
}

impl<K, V> Default for Memory<K, V> {
    fn default() -> Self {
        Self {
            answers: HashMap::new(),
        }
    }
}

impl<K: Hash + Eq, V: Clone> Memory<K, V> {
    fn recall(&self, key: &K) -> Option<V> {
        let (value, until) = self.answers.get(key)?;
        (Instant::now() < *until).then(|| value.clone())
    }

    fn remember(&mut self, key: K, value: V, lasts: Duration) {
        let now = Instant::now();
        if self.answers.len() >= REMEMBERED {
            self.answers.retain(|_, (_, until)| now < *until);
        }
        // Too many at once are asked about again.
        if self.answers.len() < REMEMBERED {
            self.answers.insert(key, (value, now + lasts));
        }
    }
}

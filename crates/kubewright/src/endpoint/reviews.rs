//! Authentication and authorization of scrapers by reviews of the API server.

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

/// How long results are cached, as in controller-runtime.
const AUTHENTICATED_TTL: Duration = Duration::from_secs(60);
const ALLOWED_TTL: Duration = Duration::from_secs(300);
const DENIED_TTL: Duration = Duration::from_secs(30);
/// The timeout of a review.
const REVIEW_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of cached results of each type.
const CAPACITY: usize = 1024;

/// Authenticates users by TokenReview and authorizes reads of a path by SubjectAccessReview.
/// Results are cached.
#[derive(Clone)]
pub(crate) struct ReviewClient {
    client: Client,
    users: Arc<Mutex<TtlCache<String, Option<Value>>>>,
    decisions: Arc<Mutex<TtlCache<UserAndPath, bool>>>,
}

#[derive(PartialEq, Eq, Hash)]
struct UserAndPath {
    user: String,
    path: String,
}

impl ReviewClient {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            users: Arc::default(),
            decisions: Arc::default(),
        }
    }

    /// Returns the response of a request that is not allowed as an error.
    pub(super) async fn check(&self, head: &Parts) -> Result<(), Response<Full<Bytes>>> {
        let token = bearer(head).unwrap_or_default();
        let user = match self.user(token).await {
            Ok(Some(user)) => user,
            Ok(None) => return Err(text(StatusCode::UNAUTHORIZED, "Unauthorized\n")),
            Err(why) => {
                tracing::warn!("authenticate a reader of the metrics: {why}");
                return Err(failed("Authentication failed\n".to_owned()));
            }
        };
        let name = user["username"].as_str().unwrap_or_default();
        match self.is_allowed(&user, head).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(text(
                StatusCode::FORBIDDEN,
                format!("Authorization denied for user {name}\n"),
            )),
            Err(why) => {
                tracing::warn!("authorize {name} to read the metrics: {why}");
                Err(failed(format!("Authorization for user {name} failed\n")))
            }
        }
    }

    async fn user(&self, token: &str) -> Result<Option<Value>, String> {
        if token.is_empty() {
            return Ok(None);
        }
        if let Some(user) = self.users.lock().get(&token.to_owned()) {
            return Ok(user);
        }
        let review = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token},
        });
        let path = "/apis/authentication.k8s.io/v1/tokenreviews";
        let mut status = self.review(path, &review).await?;
        let is_authenticated = status["authenticated"] == true;
        let user = is_authenticated.then(|| status["user"].take());
        let mut users = self.users.lock();
        users.insert(token.to_owned(), user.clone(), AUTHENTICATED_TTL);
        Ok(user)
    }

    async fn is_allowed(&self, user: &Value, head: &Parts) -> Result<bool, String> {
        let verb = match head.method {
            Method::GET | Method::HEAD => "get",
            _ => return Ok(false),
        };
        let path = head.uri.path();
        let key = UserAndPath {
            user: user.to_string(),
            path: path.to_owned(),
        };
        if let Some(is_allowed) = self.decisions.lock().get(&key) {
            return Ok(is_allowed);
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
        let is_allowed = self.review(path, &review).await?["allowed"] == true;
        let ttl = if is_allowed { ALLOWED_TTL } else { DENIED_TTL };
        self.decisions.lock().insert(key, is_allowed, ttl);
        Ok(is_allowed)
    }

    /// Creates a review and returns its status.
    async fn review(&self, path: &str, review: &Value) -> Result<Value, String> {
        let request = Request::post(path)
            .header("content-type", "application/json")
            .body(review.to_string().into_bytes())
            .map_err(|error| error.to_string())?;
        let mut response = timeout(REVIEW_TIMEOUT, self.client.request::<Value>(request))
            .await
            .map_err(|_| format!("no response within {REVIEW_TIMEOUT:?}"))?
            .map_err(|error| error.to_string())?;
        Ok(response["status"].take())
    }
}

impl fmt::Debug for ReviewClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReviewClient").finish_non_exhaustive()
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

/// A bounded cache whose entries expire.
struct TtlCache<K, V> {
    entries: HashMap<K, Entry<V>>,
}

struct Entry<V> {
    value: V,
    expiry: Instant,
}

impl<K, V> Default for TtlCache<K, V> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
        }
    }
}

impl<K: Hash + Eq, V: Clone> TtlCache<K, V> {
    fn get(&self, key: &K) -> Option<V> {
        let entry = self.entries.get(key)?;
        (Instant::now() < entry.expiry).then(|| entry.value.clone())
    }

    /// Adds a value. A full cache drops expired entries, and adds nothing if none has expired.
    fn insert(&mut self, key: K, value: V, ttl: Duration) {
        let now = Instant::now();
        if self.entries.len() >= CAPACITY {
            self.entries.retain(|_, entry| now < entry.expiry);
        }
        if self.entries.len() < CAPACITY {
            let expiry = now + ttl;
            self.entries.insert(key, Entry { value, expiry });
        }
    }
}

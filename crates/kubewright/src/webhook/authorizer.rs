//! The authorization webhook: decides whether a user may send a request.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use kubewright_webhook::AuthorizationHandler;
use kubewright_webhook::review::{SubjectAccessReviewSpec, SubjectAccessReviewStatus};

/// The decision of an authorizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The request is allowed; no other authorizer is called.
    Allowed,
    /// The request is denied, and no other authorizer is called; the user sees the reason.
    Denied(String),
    /// The next authorizer decides, usually RBAC.
    NoOpinion,
}

impl Verdict {
    /// Denies the request with a reason.
    pub fn denied(why: impl Into<String>) -> Self {
        Self::Denied(why.into())
    }
}

impl From<Verdict> for SubjectAccessReviewStatus {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allowed => Self {
                allowed: true,
                ..Self::default()
            },
            Verdict::Denied(reason) => Self {
                denied: true,
                reason,
                ..Self::default()
            },
            Verdict::NoOpinion => Self::default(),
        }
    }
}

type Decide = Arc<dyn Fn(SubjectAccessReviewSpec) -> BoxFuture<'static, Verdict> + Send + Sync>;

/// A function that authorizes requests.
#[derive(Clone)]
pub(crate) struct Authorizer {
    decide: Decide,
}

impl Authorizer {
    /// The path of the webhook.
    pub(crate) const PATH: &'static str = "/authorize";

    pub(crate) fn new<F, Fut>(decide: F) -> Self
    where
        F: Fn(SubjectAccessReviewSpec) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Verdict> + Send + 'static,
    {
        Self {
            decide: Arc::new(move |spec| Box::pin(decide(spec))),
        }
    }

    pub(crate) fn handler(&self) -> AuthorizationHandler {
        let decide = Arc::clone(&self.decide);
        Arc::new(move |spec, _| {
            let verdict = decide(spec);
            Box::pin(async move { verdict.await.into() })
        })
    }
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorizer").finish_non_exhaustive()
    }
}

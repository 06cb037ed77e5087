use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use kubewright_webhook::AuthorizationHandler;
use kubewright_webhook::review::{SubjectAccessReviewSpec, SubjectAccessReviewStatus};

/// What an authorizer decides about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The user may; nobody else is asked.
    Allowed,
    /// The user may not, whatever others would say: the reason is shown to him.
    Denied(String),
    /// The next authorizer decides, usually the cluster's roles.
    NoOpinion,
}

impl Verdict {
    /// The user may not, for this reason.
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

/// The function that answers what users may do.
#[derive(Clone)]
pub(crate) struct Authorizer {
    decide: Decide,
}

impl Authorizer {
    /// Where it is served.
    pub(crate) const PATH: &'static str = "/authorize";

    pub(crate) fn new<F, Fut>(decide: F) -> Self
    where
        F: Fn(SubjectAccessReviewSpec) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Verdict> + Send + 'static,
    {
        Self {
            decide: Arc::new(move |attempt| Box::pin(decide(attempt))),
        }
    }

    pub(crate) fn handler(&self) -> AuthorizationHandler {
        let decide = Arc::clone(&self.decide);
        Arc::new(move |attempt, _| {
            let decided = decide(attempt);
            Box::pin(async move { decided.await.into() })
        })
    }
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorizer").finish_non_exhaustive()
    }
}

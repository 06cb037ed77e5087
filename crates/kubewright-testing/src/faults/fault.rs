//! A fault: its effect, and the requests that it affects.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kubewright::Verb;
use kubewright_wire::route::ResourceRoute;
use kubewright_wire::status::{Reason, Status};

/// A fault of a request of the operator under test.
///
/// ```
/// use kubewright_testing::Fault;
/// use kubewright::Verb;
///
/// // The second apply of a Pod succeeds, but its response is lost.
/// let fault = Fault::lost_response().on(Verb::Patch, "pods").after(1);
/// assert_eq!(fault.to_string(), "lost response for patch pods, once after 1");
/// ```
///
/// Without [`on`](Self::on) it affects any write. It happens once, unless [`times`](Self::times)
/// sets another number. The verb of `cx.apply` is [`Verb::Patch`], also when it creates the object.
#[derive(Clone, Debug)]
pub struct Fault {
    pub(super) effect: Effect,
    requests: Requests,
    pub(super) skip: usize,
    pub(super) times: usize,
}

/// The effect of a fault on a request.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    /// The request is not sent, and fails with this status.
    Reject(Box<Status>),
    /// The connection fails.
    Unreachable,
    /// The request is sent and the response never arrives.
    LostResponse,
    /// The request is sent; the operator crashes before the response arrives.
    Crash,
}

/// The requests that a fault affects.
#[derive(Clone, Debug)]
enum Requests {
    Writes,
    Of { verb: Verb, resource: String },
}

impl Fault {
    /// The request fails with this code and message, and the reason of the code.
    pub fn rejected(code: u16, message: impl Into<String>) -> Self {
        Self::new(Effect::Reject(Box::new(Status::failure(
            code,
            reason_of(code),
            message,
        ))))
    }

    /// 409: another client has changed the object in the meantime.
    pub fn conflict() -> Self {
        Self::rejected(409, "the object has been modified; injected by a test")
    }

    /// 403 because a quota is exceeded, not because a permission is missing.
    pub fn quota_exceeded() -> Self {
        Self::rejected(403, "exceeded quota: injected by a test")
    }

    /// 422: the object is invalid.
    pub fn invalid() -> Self {
        Self::rejected(422, "the object is invalid: injected by a test")
    }

    /// 500: the API server has an internal error.
    pub fn server_error() -> Self {
        Self::rejected(500, "Internal error occurred: injected by a test")
    }

    /// 429: the API server is overloaded, and returns when to retry.
    pub fn too_many_requests(seconds: u32) -> Self {
        let status = Status::too_many_requests("too many requests, injected by a test", seconds);
        Self::new(Effect::Reject(Box::new(status)))
    }

    /// 410: the revision that a watch or a list continues from was compacted.
    pub fn expired() -> Self {
        let status = Status::expired("too old resource version: injected by a test");
        Self::new(Effect::Reject(Box::new(status)))
    }

    /// The connection fails before the request is sent.
    pub fn unreachable() -> Self {
        Self::new(Effect::Unreachable)
    }

    /// The request is sent, and the connection fails before the response arrives.
    pub fn lost_response() -> Self {
        Self::new(Effect::LostResponse)
    }

    /// The operator crashes after the request is sent and before the response arrives. It sends no
    /// more requests; [`Cluster::restart_operator`](crate::Cluster::restart_operator) starts the
    /// next run.
    pub fn crash() -> Self {
        Self::new(Effect::Crash)
    }

    /// Affects only requests with this verb and resource: `pods`, or `pods/status`.
    #[must_use]
    pub fn on(mut self, verb: Verb, resource: impl Into<String>) -> Self {
        let resource = resource.into();
        self.requests = Requests::Of { verb, resource };
        self
    }

    /// Skips the first `count` of these requests.
    #[must_use]
    pub fn after(mut self, count: usize) -> Self {
        self.skip = count;
        self
    }

    /// Happens this number of times.
    #[must_use]
    pub fn times(mut self, count: usize) -> Self {
        self.times = count;
        self
    }

    fn new(effect: Effect) -> Self {
        Self {
            effect,
            requests: Requests::Writes,
            skip: 0,
            times: 1,
        }
    }

    /// Whether the fault affects a request.
    pub(super) fn matches(&self, route: &ResourceRoute) -> bool {
        match &self.requests {
            Requests::Writes => is_write(route),
            Requests::Of { verb, resource } => {
                route.verb == *verb && route.rule_resource() == *resource
            }
        }
    }
}

/// Whether a request is a write. Events do not count, because they only report other writes.
pub(super) fn is_write(route: &ResourceRoute) -> bool {
    let reads = matches!(route.verb, Verb::Get | Verb::List | Verb::Watch);
    !reads && route.plural != "events"
}

fn reason_of(code: u16) -> Option<Reason> {
    Some(match code {
        400 => Reason::BadRequest,
        401 => Reason::Unauthorized,
        403 => Reason::Forbidden,
        404 => Reason::NotFound,
        409 => Reason::Conflict,
        410 => Reason::Expired,
        422 => Reason::Invalid,
        429 => Reason::TooManyRequests,
        500 => Reason::InternalError,
        503 => Reason::ServiceUnavailable,
        504 => Reason::Timeout,
        _ => return None,
    })
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.effect {
            Effect::Reject(status) => write!(f, "status {} for", status.code)?,
            Effect::Unreachable => f.write_str("no connection for")?,
            Effect::LostResponse => f.write_str("lost response for")?,
            Effect::Crash => f.write_str("crash after")?,
        }
        match &self.requests {
            Requests::Writes => f.write_str(" a write")?,
            Requests::Of { verb, resource } => write!(f, " {verb} {resource}")?,
        }
        match self.times {
            1 => f.write_str(", once")?,
            times => write!(f, ", {times} times")?,
        }
        match self.skip {
            0 => Ok(()),
            skip => write!(f, " after {skip}"),
        }
    }
}

/// An injected fault, which counts how often it has happened.
#[derive(Clone, Debug)]
pub struct Injected {
    pub(super) name: String,
    pub(super) count: Arc<AtomicUsize>,
}

impl Injected {
    /// How often it has happened so far.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

impl fmt::Display for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

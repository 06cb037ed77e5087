use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kubewright::Verb;
use kubewright_wire::route::ResourceRoute;
use kubewright_wire::status::{Reason, Status};

/// Something that goes wrong for a request of the operator under test.
///
/// ```
/// use kubewright_testing::Fault;
/// use kubewright::Verb;
///
/// // The second apply of a Pod is carried out, and its answer never arrives.
/// let fault = Fault::lost_answer().on(Verb::Patch, "pods").after(1);
/// assert_eq!(fault.to_string(), "lost answer of patch pods, once after 1");
/// ```
///
/// Without [`on`](Self::on) it is for any write. It happens once, unless
/// [`times`](Self::times) says otherwise. `cx.apply` is [`Verb::Patch`], also where it makes the
/// object.
#[derive(Clone, Debug)]
pub struct Fault {
    pub(super) effect: Effect,
    requests: Requests,
    pub(super) skip: usize,
    pub(super) times: usize,
}

/// What happens instead of the request, or after it.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    /// The API server says no; it never sees the request.
    Refuse(Box<Status>),
    /// Nobody is there.
    Unreachable,
    /// The request is carried out and the answer never arrives.
    LostAnswer,
    /// The request is carried out; the operator does not live to see the answer.
    Crash,
}

/// Which requests are meant.
#[derive(Clone, Debug)]
enum Requests {
    Writes,
    Of { verb: Verb, resource: String },
}

impl Fault {
    /// The API server refuses with this code and message, and the reason that goes with the code.
    pub fn refused(code: u16, message: impl Into<String>) -> Self {
        Self::new(Effect::Refuse(Box::new(Status::failure(
            code,
            reason_of(code),
            message,
        ))))
    }

    /// 409: somebody else has changed the object in between.
    pub fn conflict() -> Self {
        Self::refused(409, "the object has been modified; injected by a test")
    }

    /// 403 as a full quota says it: not a matter of roles.
    pub fn quota_exceeded() -> Self {
        Self::refused(403, "exceeded quota: injected by a test")
    }

    /// 422: the object is not valid.
    pub fn invalid() -> Self {
        Self::refused(422, "the object is invalid: injected by a test")
    }

    /// 500: the API server has a trouble of its own.
    pub fn server_error() -> Self {
        Self::refused(500, "Internal error occurred: injected by a test")
    }

    /// 429: the API server has too much to do, and says for how many seconds.
    pub fn too_many_requests(seconds: u32) -> Self {
        let status = Status::too_many_requests("too many requests, injected by a test", seconds);
        Self::new(Effect::Refuse(Box::new(status)))
    }

    /// 410: what a watch or a list is to go on from is no longer there.
    pub fn expired() -> Self {
        let status = Status::expired("too old resource version: injected by a test");
        Self::new(Effect::Refuse(Box::new(status)))
    }

    /// The connection fails before the request is sent.
    pub fn unreachable() -> Self {
        Self::new(Effect::Unreachable)
    }

    /// The request is carried out, and the connection fails before the answer arrives.
    pub fn lost_answer() -> Self {
        Self::new(Effect::LostAnswer)
    }

    /// The operator dies once the request is carried out, before it knows. From then on it asks
    /// nothing more; [`Cluster::restart_operator`](crate::Cluster::restart_operator) starts the
    /// next one.
    pub fn crash() -> Self {
        Self::new(Effect::Crash)
    }

    /// Only for requests with this verb about this resource: `pods`, or `pods/status`.
    #[must_use]
    pub fn on(mut self, verb: Verb, resource: impl Into<String>) -> Self {
        let resource = resource.into();
        self.requests = Requests::Of { verb, resource };
        self
    }

    /// The first `count` of these requests pass.
    #[must_use]
    pub fn after(mut self, count: usize) -> Self {
        self.skip = count;
        self
    }

    /// Happens that often.
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

    /// Whether a request is one of those that are meant.
    pub(super) fn is_for(&self, route: &ResourceRoute) -> bool {
        match &self.requests {
            Requests::Writes => is_write(route),
            Requests::Of { verb, resource } => {
                route.verb == *verb && route.rule_resource() == *resource
            }
        }
    }
}

/// Whether a request changes what is stored. Events tell about other writes and are none.
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
            Effect::Refuse(status) => write!(f, "refusal {}", status.code)?,
            Effect::Unreachable => f.write_str("no connection for")?,
            Effect::LostAnswer => f.write_str("lost answer of")?,
            Effect::Crash => f.write_str("crash after")?,
        }
        if matches!(self.effect, Effect::Refuse(_)) {
            f.write_str(" of")?;
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

/// A fault on its way; it tells how often it has happened.
#[derive(Clone, Debug)]
pub struct Injected {
    pub(super) name: String,
    pub(super) met: Arc<AtomicUsize>,
}

impl Injected {
    /// How often it has happened so far.
    pub fn met(&self) -> usize {
        self.met.load(Ordering::Relaxed)
    }
}

impl fmt::Display for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

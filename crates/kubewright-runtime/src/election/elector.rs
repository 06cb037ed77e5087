//! Takes part in a leader election.

use std::fmt;
use std::time::Duration;

use http::{Method, Request};
use kube::Client;
use kubewright_core::Clock;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::leadership::ElectionState;
use super::lease::Lease;
use super::times::JITTER;
use super::{ElectionTimes, Leadership};
use crate::Error;
use crate::random::Random;

/// The number of attempts to release the Lease.
const RELEASE_ATTEMPTS: u32 = 3;

/// A candidate of a leader election, and its Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The namespace of the Lease.
    pub namespace: String,
    /// The name of the Lease.
    pub lease: String,
    /// The name of this process, which must be unique among the candidates.
    pub identity: String,
    /// The durations of the election.
    pub times: ElectionTimes,
}

impl Candidate {
    /// An identity for this process: the name of the host and a random number, so that a restarted
    /// process does not mistake the Lease of the former process for its own.
    pub fn identity_on(host: &str) -> String {
        format!("{host}_{:016x}", Random::new(None).bits())
    }
}

/// Takes part in the election, term after term, for as long as it runs.
///
/// Give it a client of its own: a client that limits the rate of requests or retries them renews
/// too late.
pub struct Elector {
    client: Client,
    clock: Clock,
    candidate: Candidate,
    observed: Option<Observed>,
    state: watch::Sender<ElectionState>,
    random: Random,
}

/// The Lease as it was last seen, and when it was seen to change.
struct Observed {
    lease: Lease,
    at: Instant,
}

/// The result of an attempt to take or renew the Lease.
enum Attempt {
    /// This process holds the Lease; the write was sent at this time.
    Acquired(Instant),
    /// Another process holds the Lease, or was faster.
    HeldByOther,
}

impl Elector {
    /// An elector for the candidate, and the leadership that it updates.
    pub fn new(
        client: Client,
        clock: Clock,
        candidate: Candidate,
    ) -> Result<(Self, Leadership), Error> {
        candidate.times.check()?;
        let (state, receiver) = watch::channel(ElectionState::default());
        let elector = Self {
            client,
            clock,
            candidate,
            observed: None,
            state,
            random: Random::new(None),
        };
        Ok((elector, Leadership::elected(receiver)))
    }

    /// Takes part until `stop`, and then releases the Lease if this process holds it. Cancel `stop`
    /// only when the work of the leader has ended.
    ///
    /// # Cancel safety
    ///
    /// When dropped, the current term ends at its time, and other candidates wait until the Lease
    /// expires.
    pub async fn run(mut self, stop: CancellationToken) {
        let endless = async {
            loop {
                let wait = self.round().await;
                sleep(wait).await;
            }
        };
        stop.run_until_cancelled(endless).await;
        self.release().await;
    }

    /// Makes one attempt and returns the delay until the next.
    async fn round(&mut self) -> Duration {
        let retry = self.candidate.times.retry;
        match self.attempt().await {
            Ok(Attempt::Acquired(sent)) => {
                self.extend_term(sent);
                return retry;
            }
            Ok(Attempt::HeldByOther) => self.end_term(),
            Err(error) => self.note_error(&error),
        }
        if self.is_leading() {
            return retry;
        }
        // Jitter keeps the candidates from sending their requests at the same time.
        retry.mul_f64(1.0 + JITTER * self.random.fraction())
    }

    /// Takes or renews the Lease if it is released, held by this process, or expired.
    async fn attempt(&mut self) -> Result<Attempt, Error> {
        // The leader knows the revision from its last renewal and needs only one request.
        if let Some(observed) = &self.observed
            && self.is_leading()
            && self.is_ours(&observed.lease)
        {
            let renewed = self.held(&observed.lease);
            let sent = Instant::now();
            match self.write(Method::PUT, &renewed).await {
                Err(error) if has_changed(&error) => {}
                written => return Ok(self.note_written(written?, sent)),
            }
        }
        let Some(found) = self.read().await? else {
            let fresh = Lease::new(&self.candidate.namespace, &self.candidate.lease);
            let sent = Instant::now();
            let created = self.write(Method::POST, &self.held(&fresh)).await;
            return match created {
                // Another candidate was faster.
                Err(error) if has_code(&error, 409) => Ok(Attempt::HeldByOther),
                created => Ok(self.note_written(created?, sent)),
            };
        };
        self.observe(found.clone());
        if found.holder().is_some() && !self.is_ours(&found) && !self.has_expired(&found) {
            return Ok(Attempt::HeldByOther);
        }
        let sent = Instant::now();
        match self.write(Method::PUT, &self.held(&found)).await {
            Err(error) if has_changed(&error) => Ok(Attempt::HeldByOther),
            written => Ok(self.note_written(written?, sent)),
        }
    }

    fn note_written(&mut self, lease: Lease, sent: Instant) -> Attempt {
        let is_ours = self.is_ours(&lease);
        self.observe(lease);
        if is_ours {
            Attempt::Acquired(sent)
        } else {
            Attempt::HeldByOther
        }
    }

    /// Remembers when the Lease was seen to change.
    fn observe(&mut self, lease: Lease) {
        let at = match &self.observed {
            Some(former) if former.lease.has_spec_of(&lease) => former.at,
            _ => Instant::now(),
        };
        self.observed = Some(Observed { lease, at });
    }

    /// Whether this process has not seen the Lease change for as long as it is valid.
    fn has_expired(&self, lease: &Lease) -> bool {
        let seen = self.observed.as_ref().map(|observed| observed.at);
        seen.is_some_and(|at| at.elapsed() >= lease.duration())
    }

    /// Begins a term, or extends the current one.
    fn extend_term(&self, sent: Instant) {
        let was_leading = self.is_leading();
        let until = sent + self.candidate.times.renew_deadline;
        let identity = &self.candidate.identity;
        self.state.send_modify(|state| {
            state.terms += u64::from(!was_leading);
            state.until = Some(until);
            state.holder = Some(identity.clone());
            state.last_error = None;
        });
        if !was_leading {
            tracing::info!(lease = %self.name(), identity, "leading");
        }
    }

    /// Ends the current term, if there is one, because another process holds the Lease.
    fn end_term(&self) {
        let observed = self.observed.as_ref();
        let holder = observed.and_then(|observed| observed.lease.holder());
        if self.is_leading() {
            tracing::warn!(lease = %self.name(), holder, "another process took the lease");
        }
        self.state.send_modify(|state| {
            state.until = None;
            state.holder = holder.map(str::to_owned);
            state.last_error = None;
        });
    }

    /// Records a failed attempt. The current term continues until its end.
    fn note_error(&self, error: &Error) {
        let until = self.state.borrow().until;
        let is_over = until.is_some_and(|until| until <= Instant::now());
        tracing::warn!(
            error = error as &(dyn std::error::Error + 'static),
            lease = %self.name(),
            "{}",
            if is_over { "the lease was not renewed in time" } else { "the request for the lease failed" }
        );
        self.state.send_modify(|state| {
            state.until = state.until.filter(|_| !is_over);
            state.last_error = Some(with_causes(error));
        });
    }

    /// Releases the Lease if this process holds it.
    async fn release(mut self) {
        let observed = self.observed.as_ref();
        if !observed.is_some_and(|observed| self.is_ours(&observed.lease)) {
            return;
        }
        // The term must end before another process can take the Lease.
        self.state.send_modify(|state| state.until = None);
        for _ in 0..RELEASE_ATTEMPTS {
            match self.try_release().await {
                Ok(()) => return tracing::info!(lease = %self.name(), "released the lease"),
                Err(error) => tracing::debug!(%error, lease = %self.name(), "release the lease"),
            }
            self.observed = match self.read().await {
                Ok(Some(lease)) if self.is_ours(&lease) => Some(Observed {
                    lease,
                    at: Instant::now(),
                }),
                Ok(_) => return,
                Err(_) => self.observed,
            };
        }
        tracing::warn!(lease = %self.name(), "the lease was not released; it expires");
    }

    async fn try_release(&self) -> Result<(), Error> {
        let Some(observed) = &self.observed else {
            return Ok(());
        };
        let released = observed.lease.released(self.clock.now());
        self.write(Method::PUT, &released).await.map(drop)
    }

    fn is_leading(&self) -> bool {
        let until = self.state.borrow().until;
        until.is_some_and(|until| Instant::now() < until)
    }

    fn is_ours(&self, lease: &Lease) -> bool {
        lease.holder() == Some(&self.candidate.identity)
    }

    fn held(&self, lease: &Lease) -> Lease {
        let Candidate {
            identity, times, ..
        } = &self.candidate;
        lease.held_by(identity, times.lease, self.clock.now())
    }

    fn name(&self) -> String {
        format!("{}/{}", self.candidate.namespace, self.candidate.lease)
    }

    async fn read(&self) -> Result<Option<Lease>, Error> {
        match self.send(Method::GET, Vec::new()).await {
            Err(error) if has_code(&error, 404) => Ok(None),
            response => response.map(Lease::from_json),
        }
    }

    async fn write(&self, method: Method, lease: &Lease) -> Result<Lease, Error> {
        let body = lease.as_json().to_string().into_bytes();
        let response = self.send(method, body).await?;
        // A response without an object means that the Lease was stored as sent.
        Ok(Lease::from_json(response).unwrap_or_else(|| lease.clone()))
    }

    async fn send(&self, method: Method, body: Vec<u8>) -> Result<Value, Error> {
        let Candidate {
            namespace, lease, ..
        } = &self.candidate;
        let collection = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases");
        let path = if method == Method::POST {
            collection
        } else {
            format!("{collection}/{lease}")
        };
        let what = format!("{method} lease {namespace}/{lease}");
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(http::header::CONTENT_TYPE, "application/json")
            .body(body)
            .map_err(|source| Error::InvalidRequest {
                what: what.clone(),
                source,
            })?;
        let after = self.candidate.times.request_timeout();
        match timeout(after, self.client.request::<Value>(request)).await {
            Ok(response) => response.map_err(|source| Error::LeaseRequest {
                what,
                source: Box::new(source),
            }),
            Err(_) => Err(Error::TimedOut { what, after }),
        }
    }
}

impl fmt::Debug for Elector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elector")
            .field("candidate", &self.candidate)
            .finish_non_exhaustive()
    }
}

/// Whether the API server returned this status code.
fn has_code(error: &Error, code: u16) -> bool {
    let Error::LeaseRequest { source, .. } = error else {
        return false;
    };
    matches!(&**source, kube::Error::Api(status) if status.code == code)
}

/// Whether another client has updated or deleted the Lease since it was read.
fn has_changed(error: &Error) -> bool {
    has_code(error, 409) || has_code(error, 404)
}

fn with_causes(error: &Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

use std::fmt;
use std::time::Duration;

use http::{Method, Request};
use kube::Client;
use kubewright_core::Clock;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::leadership::Standing;
use super::lease::Lease;
use super::times::JITTER;
use super::{ElectionTimes, Leadership};
use crate::Error;
use crate::random::Random;

/// How often giving the Lease back is tried.
const RELEASE_TRIES: u32 = 3;

/// Who wants to lead, and by which Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Where the Lease is.
    pub namespace: String,
    /// Its name.
    pub lease: String,
    /// Who this process is; no other one may be called the same.
    pub identity: String,
    /// How long and how often.
    pub times: ElectionTimes,
}

impl Candidate {
    /// A name for this process: the host's, and a random number, so that a process that is
    /// started again does not take the former one's Lease for its own.
    pub fn identity_on(host: &str) -> String {
        format!("{host}_{:016x}", Random::new(None).bits())
    }
}

/// Takes part in the election, term after term, for as long as it runs.
///
/// Give it a client of its own: one that waits behind the process's other requests, or repeats
/// what fails, renews too late.
pub struct Elector {
    client: Client,
    clock: Clock,
    candidate: Candidate,
    observed: Option<Observed>,
    standing: watch::Sender<Standing>,
    random: Random,
}

/// The Lease as it was last seen to change, and when.
struct Observed {
    lease: Lease,
    at: Instant,
}

/// What a try has found out.
enum Held {
    /// By us; the write that says so was sent then.
    ByUs(Instant),
    /// By somebody else, or nobody knows.
    ByOther,
}

impl Elector {
    /// A candidate, and word of how it stands.
    pub fn new(
        client: Client,
        clock: Clock,
        candidate: Candidate,
    ) -> Result<(Self, Leadership), Error> {
        candidate.times.check()?;
        let (standing, watched) = watch::channel(Standing::default());
        let elector = Self {
            client,
            clock,
            candidate,
            observed: None,
            standing,
            random: Random::new(None),
        };
        Ok((elector, Leadership::elected(watched)))
    }

    /// Takes part until `stop`, and then gives the Lease back, if it has it: stop only when the
    /// work of the leader has ended.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the present term ends at its time, and others wait for the Lease to run out.
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

    /// One try, and how long to wait for the next.
    async fn round(&mut self) -> Duration {
        let retry = self.candidate.times.retry;
        match self.attempt().await {
            Ok(Held::ByUs(sent)) => {
                self.lead(sent);
                return retry;
            }
            Ok(Held::ByOther) => self.stand_by(),
            Err(error) => self.miss(&error),
        }
        match self.is_leading() {
            true => retry,
            // Not all candidates at once.
            false => retry.mul_f64(1.0 + JITTER * self.random.fraction()),
        }
    }

    /// Takes or renews the Lease, where it is free, ours, or has run out.
    async fn attempt(&mut self) -> Result<Held, Error> {
        // The leader knows the revision from its last renewal: one request.
        if let Some(observed) = &self.observed
            && self.is_leading()
            && self.is_ours(&observed.lease)
        {
            let renewed = self.held(&observed.lease);
            let sent = Instant::now();
            match self.write(Method::PUT, &renewed).await {
                Err(error) if has_changed(&error) => {}
                written => return self.took(written?, sent),
            }
        }
        let Some(found) = self.read().await? else {
            let fresh = Lease::new(&self.candidate.namespace, &self.candidate.lease);
            let sent = Instant::now();
            let created = self.write(Method::POST, &self.held(&fresh)).await;
            return match created {
                // Another candidate was faster.
                Err(error) if answered(&error, 409) => Ok(Held::ByOther),
                created => self.took(created?, sent),
            };
        };
        self.observe(found.clone());
        if found.holder().is_some() && !self.is_ours(&found) && !self.has_run_out(&found) {
            return Ok(Held::ByOther);
        }
        let sent = Instant::now();
        match self.write(Method::PUT, &self.held(&found)).await {
            Err(error) if has_changed(&error) => Ok(Held::ByOther),
            written => self.took(written?, sent),
        }
    }

    fn took(&mut self, lease: Lease, sent: Instant) -> Result<Held, Error> {
        let is_ours = self.is_ours(&lease);
        self.observe(lease);
        Ok(match is_ours {
            true => Held::ByUs(sent),
            false => Held::ByOther,
        })
    }

    /// Remembers when the Lease was seen to change.
    fn observe(&mut self, lease: Lease) {
        let at = match &self.observed {
            Some(former) if former.lease.says_the_same_as(&lease) => former.at,
            _ => Instant::now(),
        };
        self.observed = Some(Observed { lease, at });
    }

    /// Whether it has not changed for as long as it lasts, while we looked.
    fn has_run_out(&self, lease: &Lease) -> bool {
        let seen = self.observed.as_ref().map(|observed| observed.at);
        seen.is_some_and(|at| at.elapsed() >= lease.duration())
    }

    fn lead(&self, sent: Instant) {
        let was_leading = self.is_leading();
        let until = sent + self.candidate.times.renew_deadline;
        let identity = &self.candidate.identity;
        self.standing.send_modify(|standing| {
            standing.terms += u64::from(!was_leading);
            standing.until = Some(until);
            standing.holder = Some(identity.clone());
            standing.problem = None;
        });
        if !was_leading {
            tracing::info!(lease = %self.name(), identity, "leading");
        }
    }

    /// Somebody else has the Lease: a term of ours is over at once.
    fn stand_by(&self) {
        let holder = self.observed.as_ref().and_then(|one| one.lease.holder());
        let was_leading = self.is_leading();
        if was_leading {
            tracing::warn!(lease = %self.name(), holder, "the lease was taken by another");
        }
        self.standing.send_modify(|standing| {
            standing.until = None;
            standing.holder = holder.map(str::to_owned);
            standing.problem = None;
        });
    }

    /// Nothing is known; a term of ours lasts until its time is up.
    fn miss(&self, error: &Error) {
        let until = self.standing.borrow().until;
        let is_over = until.is_some_and(|until| until <= Instant::now());
        tracing::warn!(
            error = error as &(dyn std::error::Error + 'static),
            lease = %self.name(),
            "{}",
            if is_over { "the lease was not renewed in time" } else { "asking for the lease failed" }
        );
        self.standing.send_modify(|standing| {
            standing.until = standing.until.filter(|_| !is_over);
            standing.problem = Some(with_causes(error));
        });
    }

    /// Frees the Lease for others, if it is ours.
    async fn release(mut self) {
        if !self
            .observed
            .as_ref()
            .is_some_and(|one| self.is_ours(&one.lease))
        {
            return;
        }
        // Whoever asks from now on is not leading any more.
        self.standing.send_modify(|standing| standing.until = None);
        for _ in 0..RELEASE_TRIES {
            match self.try_release().await {
                Ok(()) => return tracing::info!(lease = %self.name(), "the lease is free"),
                Err(error) => tracing::debug!(%error, lease = %self.name(), "give the lease back"),
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
        tracing::warn!(lease = %self.name(), "the lease was not given back; it runs out");
    }

    async fn try_release(&self) -> Result<(), Error> {
        let Some(observed) = &self.observed else {
            return Ok(());
        };
        let released = observed.lease.released(self.clock.now());
        self.write(Method::PUT, &released).await.map(drop)
    }

    fn is_leading(&self) -> bool {
        let until = self.standing.borrow().until;
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
        match self.send(Method::GET, true, Vec::new()).await {
            Err(error) if answered(&error, 404) => Ok(None),
            answer => answer.map(Lease::from_json),
        }
    }

    async fn write(&self, method: Method, lease: &Lease) -> Result<Lease, Error> {
        let is_named = method == Method::PUT;
        let body = lease.as_json().to_string().into_bytes();
        let answer = self.send(method, is_named, body).await?;
        // What was accepted is what was sent, but for its revision.
        Ok(Lease::from_json(answer).unwrap_or_else(|| lease.clone()))
    }

    async fn send(&self, method: Method, is_named: bool, body: Vec<u8>) -> Result<Value, Error> {
        let Candidate {
            namespace, lease, ..
        } = &self.candidate;
        let collection = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases");
        let path = match is_named {
            true => format!("{collection}/{lease}"),
            false => collection,
        };
        let what = format!("{method} lease {namespace}/{lease}");
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(http::header::CONTENT_TYPE, "application/json")
            .body(body);
        let request = request.map_err(|source| Error::InvalidRequest {
            what: what.clone(),
            source,
        })?;
        let patience = self.candidate.times.patience();
        match timeout(patience, self.client.request::<Value>(request)).await {
            Ok(answer) => answer.map_err(|source| Error::LeaseRequest {
                what,
                source: Box::new(source),
            }),
            Err(_) => Err(Error::TimedOut {
                what,
                after: patience,
            }),
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

fn answered(error: &Error, code: u16) -> bool {
    let Error::LeaseRequest { source, .. } = error else {
        return false;
    };
    matches!(&**source, kube::Error::Api(status) if status.code == code)
}

/// Whether somebody has written the Lease meanwhile, or removed it.
fn has_changed(error: &Error) -> bool {
    answered(error, 409) || answered(error, 404)
}

fn with_causes(error: &Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

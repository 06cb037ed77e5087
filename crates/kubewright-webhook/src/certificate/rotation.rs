use std::fmt;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{KeyPairPem, LocalAuthority};
use crate::Error;

/// For how long both authorities are trusted before and after the certificate changes: time for
/// every API server to learn of the new authority, and for every replica to serve the new
/// certificate.
const OVERLAP: SignedDuration = SignedDuration::from_mins(5);
/// What is left of a certificate's life when the next one is made: four months of a year.
const RENEW_BEFORE: SignedDuration = SignedDuration::from_hours(120 * 24);
const END: &str = "-----END CERTIFICATE-----";

/// A serving certificate and the authorities that vouch for it, as all replicas share them.
///
/// Each certificate has an authority of its own, whose key nobody keeps: who reads the shared state
/// cannot make further certificates. A certificate is replaced in three steps, so that at no time
/// anybody is shown one that he has no reason to trust: the next authority is announced, the
/// certificate changes, the former authority goes.
#[derive(Clone, PartialEq, Eq)]
pub struct Rotation {
    /// The authorities to be trusted (PEM), the newest first.
    pub authorities: Vec<String>,
    /// What is served.
    pub serving: KeyPairPem,
    /// What will be served next, once its authority is known everywhere.
    pub upcoming: Option<KeyPairPem>,
    /// Where the rotation stands.
    pub progress: Progress,
}

/// Where a [`Rotation`] stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The step that was taken last.
    pub stage: Stage,
    /// When it was taken.
    pub since: Timestamp,
    /// When the newest certificate ends.
    pub expires: Timestamp,
    /// The host names that the newest certificate is for.
    pub names: Vec<String>,
}

/// The steps of a [`Rotation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// One certificate, one authority.
    Settled,
    /// The next authority is trusted beside the present one.
    Announced,
    /// The next certificate is served, and the former authority is still trusted.
    Switched,
}

/// A certificate with its own authority.
struct Issued {
    authority: String,
    pair: KeyPairPem,
    expires: Timestamp,
}

impl Issued {
    fn new(names: &[String], now: Timestamp) -> Result<Self, Error> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let name = format!("webhooks {}", now.as_second());
        let authority = LocalAuthority::valid_from(&name, now)?;
        Ok(Self {
            pair: authority.issue(&names)?,
            authority: authority.certificate_pem(),
            expires: authority.expires(),
        })
    }
}

impl Rotation {
    /// The first certificate for these host names.
    pub fn first(names: &[String], now: Timestamp) -> Result<Self, Error> {
        let issued = Issued::new(names, now)?;
        Ok(Self {
            authorities: vec![issued.authority],
            serving: issued.pair,
            upcoming: None,
            progress: Progress {
                stage: Stage::Settled,
                since: now,
                expires: issued.expires,
                names: names.to_vec(),
            },
        })
    }

    /// All authorities to be trusted, as one text.
    pub fn trusted_pem(&self) -> String {
        self.authorities.concat()
    }

    /// Reads authorities as [`trusted_pem`](Self::trusted_pem) writes them.
    pub fn split_authorities(pem: &str) -> Vec<String> {
        let parts = pem.split_inclusive(END).map(str::trim);
        let parts = parts.filter(|part| part.ends_with(END));
        parts.map(|part| format!("{part}\n")).collect()
    }

    /// The state after the step that is due; none when none is. The caller has made sure that
    /// everybody trusts the present authorities.
    pub fn advance(&self, names: &[String], now: Timestamp) -> Result<Option<Self>, Error> {
        let is_over = now.duration_since(self.progress.since) >= OVERLAP;
        let is_due = self.progress.expires.duration_since(now) <= RENEW_BEFORE
            || self.progress.names != names;
        match self.progress.stage {
            // Nobody can be served with it any more, so there is nothing to overlap.
            _ if now >= self.progress.expires => Self::first(names, now).map(Some),
            Stage::Settled if is_due => self.announce(names, now).map(Some),
            Stage::Announced if is_over => Ok(Some(self.switch(now))),
            Stage::Switched if is_over => Ok(Some(self.settle(now))),
            _ => Ok(None),
        }
    }

    /// How long until a step can be due, at most.
    pub fn next_step(&self, now: Timestamp) -> Duration {
        let due = match self.progress.stage {
            Stage::Settled => self.progress.expires - RENEW_BEFORE,
            Stage::Announced | Stage::Switched => self.progress.since + OVERLAP,
        };
        Duration::try_from(due.duration_since(now)).unwrap_or_default()
    }

    fn announce(&self, names: &[String], now: Timestamp) -> Result<Self, Error> {
        let issued = Issued::new(names, now)?;
        let present = self.authorities.first().cloned();
        Ok(Self {
            authorities: std::iter::once(issued.authority).chain(present).collect(),
            serving: self.serving.clone(),
            upcoming: Some(issued.pair),
            progress: Progress {
                stage: Stage::Announced,
                since: now,
                expires: issued.expires,
                names: names.to_vec(),
            },
        })
    }

    fn switch(&self, now: Timestamp) -> Self {
        let upcoming = self.upcoming.clone();
        Self {
            serving: upcoming.unwrap_or_else(|| self.serving.clone()),
            upcoming: None,
            ..self.at(Stage::Switched, now)
        }
    }

    fn settle(&self, now: Timestamp) -> Self {
        let mut settled = self.at(Stage::Settled, now);
        settled.authorities.truncate(1);
        settled
    }

    fn at(&self, stage: Stage, since: Timestamp) -> Self {
        let mut moved = self.clone();
        moved.progress.stage = stage;
        moved.progress.since = since;
        moved
    }
}

/// Without the keys.
impl fmt::Debug for Rotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rotation")
            .field("authorities", &self.authorities.len())
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::{Rotation, Stage};

    fn start() -> Timestamp {
        "2026-01-01T00:00:00Z".parse().unwrap()
    }

    fn names() -> Vec<String> {
        vec!["web.tools.svc".to_owned()]
    }

    fn after(rotation: &Rotation, now: Timestamp) -> Option<Rotation> {
        rotation.advance(&names(), now).unwrap()
    }

    #[test]
    fn a_certificate_is_replaced_in_three_steps_and_never_shown_to_who_does_not_trust_it() {
        let first = Rotation::first(&names(), start()).unwrap();
        let early = start() + SignedDuration::from_hours(200 * 24);
        assert_eq!(after(&first, early), None);
        let due = start() + SignedDuration::from_hours(250 * 24);
        let announced = after(&first, due).unwrap();
        assert_eq!(announced.progress.stage, Stage::Announced);
        assert_eq!(announced.serving, first.serving);
        assert_eq!(announced.authorities[1], first.authorities[0]);
        let minute = SignedDuration::from_mins(1);
        assert_eq!(after(&announced, due + minute), None);
        let switched = after(&announced, due + minute * 5).unwrap();
        assert_eq!(Some(&switched.serving), announced.upcoming.as_ref());
        assert_eq!(switched.authorities, announced.authorities);
        assert_eq!(after(&switched, due + minute * 9), None);
        let settled = after(&switched, due + minute * 10).unwrap();
        assert_eq!(settled.serving, switched.serving);
        assert_eq!(settled.authorities, announced.authorities[..1]);
        assert_eq!(after(&settled, due + minute * 60), None);
    }

    #[test]
    fn other_host_names_need_another_certificate() {
        let first = Rotation::first(&names(), start()).unwrap();
        let others = vec!["web.other.svc".to_owned()];
        let moved = first.advance(&others, start()).unwrap().unwrap();
        assert_eq!(moved.progress.stage, Stage::Announced);
        assert_eq!(moved.progress.names, others);
    }

    #[test]
    fn one_that_has_ended_is_replaced_at_once() {
        let first = Rotation::first(&names(), start()).unwrap();
        let late = start() + SignedDuration::from_hours(400 * 24);
        let again = after(&first, late).unwrap();
        assert_eq!(again.progress.stage, Stage::Settled);
        assert_ne!(again.serving, first.serving);
        assert_eq!(again.authorities.len(), 1);
    }

    #[test]
    fn authorities_are_read_as_they_are_written() {
        let first = Rotation::first(&names(), start()).unwrap();
        let due = start() + SignedDuration::from_hours(250 * 24);
        let both = after(&first, due).unwrap();
        let read = Rotation::split_authorities(&both.trusted_pem().replace('\n', "\r\n"));
        assert_eq!(read.len(), 2);
        assert_eq!(
            Rotation::split_authorities(&both.trusted_pem()),
            both.authorities
        );
    }

    #[test]
    fn no_key_is_printed() {
        let first = Rotation::first(&names(), start()).unwrap();
        let key = first.serving.key_pem.lines().nth(1).unwrap();
        assert!(!format!("{first:?}").contains(key));
    }
}

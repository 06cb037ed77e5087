//! Rotation of the serving certificate and its authority without failed handshakes.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use kubewright_http::pki::{Authority, KeyPairPem};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// How long both authorities are trusted before and after the certificate changes: time for every
/// API server to read the new CA bundle, and for every replica to serve the new certificate.
const OVERLAP: SignedDuration = SignedDuration::from_mins(5);
/// The remaining validity of a certificate when the next one is issued: four months of a year.
const RENEW_BEFORE: SignedDuration = SignedDuration::from_hours(120 * 24);
/// How long a certificate and its authority are valid.
const DAYS: u16 = 365;
const END: &str = "-----END CERTIFICATE-----";

/// A serving certificate and the authorities that clients trust, as all replicas share them.
///
/// Each certificate has an authority of its own, whose key is not stored: a reader of the shared
/// state cannot issue further certificates. A certificate is replaced in three steps, so that no
/// client ever gets one that it does not trust: the next authority is announced, the certificate
/// changes, the former authority is removed.
#[derive(Clone, PartialEq, Eq)]
pub struct Rotation {
    /// The trusted authorities (PEM), the newest first.
    pub authorities: Vec<String>,
    /// The current serving certificate.
    pub serving: KeyPairPem,
    /// The next serving certificate, which waits until all clients trust its authority.
    pub upcoming: Option<KeyPairPem>,
    /// The state of the rotation.
    pub progress: Progress,
}

/// The state of a [`Rotation`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The current stage.
    pub stage: Stage,
    /// When it began.
    pub since: Timestamp,
    /// When the newest certificate expires.
    pub expires: Timestamp,
    /// The host names of the newest certificate.
    pub names: Vec<String>,
}

/// The stages of a [`Rotation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// One certificate, one authority.
    Settled,
    /// The next authority is trusted besides the current one.
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
        let host_names: Vec<&str> = names.iter().map(String::as_str).collect();
        let common_name = format!("webhooks {}", now.as_second());
        let authority = Authority::valid_from(&common_name, now, DAYS)?;
        Ok(Self {
            pair: authority.issue_server(&host_names)?,
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

    /// The CA bundle of all trusted authorities.
    pub fn trusted_pem(&self) -> String {
        self.authorities.concat()
    }

    /// Splits a CA bundle of [`trusted_pem`](Self::trusted_pem) into its authorities.
    pub fn split_authorities(pem: &str) -> Vec<String> {
        pem.split_inclusive(END)
            .map(str::trim)
            .filter(|certificate| certificate.ends_with(END))
            .map(|certificate| format!("{certificate}\n"))
            .collect()
    }

    /// The state after the step that is due; `None` when none is. The caller ensures that all
    /// clients trust the current authorities.
    pub fn advance(&self, names: &[String], now: Timestamp) -> Result<Option<Self>, Error> {
        let has_overlapped = now.duration_since(self.progress.since) >= OVERLAP;
        let is_due = self.progress.expires.duration_since(now) <= RENEW_BEFORE
            || self.progress.names != names;
        match self.progress.stage {
            // No client accepts an expired certificate, so there is nothing to overlap.
            _ if now >= self.progress.expires => Self::first(names, now).map(Some),
            Stage::Settled if is_due => self.announce(names, now).map(Some),
            Stage::Announced if has_overlapped => Ok(Some(self.switch(now))),
            Stage::Switched if has_overlapped => Ok(Some(self.settle(now))),
            _ => Ok(None),
        }
    }

    fn announce(&self, names: &[String], now: Timestamp) -> Result<Self, Error> {
        let issued = Issued::new(names, now)?;
        let current = self.authorities.first().cloned();
        Ok(Self {
            authorities: std::iter::once(issued.authority).chain(current).collect(),
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

/// Omits the private keys.
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
    fn certificate_changes_only_while_both_authorities_are_trusted() {
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
    fn expired_certificate_is_replaced_at_once() {
        let first = Rotation::first(&names(), start()).unwrap();
        let late = start() + SignedDuration::from_hours(400 * 24);
        let again = after(&first, late).unwrap();
        assert_eq!(again.progress.stage, Stage::Settled);
        assert_ne!(again.serving, first.serving);
        assert_eq!(again.authorities.len(), 1);
    }

    #[test]
    fn bundle_is_split_into_its_authorities() {
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
    fn debug_output_omits_the_keys() {
        let first = Rotation::first(&names(), start()).unwrap();
        let key = first.serving.key_pem.lines().nth(1).unwrap();
        assert!(!format!("{first:?}").contains(key));
    }
}

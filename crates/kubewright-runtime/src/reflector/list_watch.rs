//! The reflector: lists and watches a collection forever.

use std::convert::Infallible;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use kube::Client;
use tokio_util::sync::CancellationToken;

use super::backoff::RetryBackoff;
use super::collection::Collection;
use super::list::{Freshness, is_expired, list};
use super::options::ReflectorOptions;
use super::sink::Sink;
use super::spec::InformerSpec;
use super::watch::{WatchEnd, WatchState, watch};
use crate::Error;
use crate::client::ErrorReason;
use crate::panic_message::panic_message;

/// The bounds of `timeoutSeconds`, which are those of client-go. The time is random, so that the
/// watches of a cluster do not all end at once.
const WATCH_TIMEOUT: (Duration, Duration) = (Duration::from_secs(300), Duration::from_secs(600));

/// The longest wait while a permission or the kind is missing, so that the reflector soon notices
/// when a user adds it.
const MAX_BLOCKED_WAIT: Duration = Duration::from_secs(5);

/// Lists and watches one collection and hands its objects to a [`Sink`].
pub struct Reflector {
    collection: Collection,
    backoff: RetryBackoff,
    /// Whether the sink has objects of a kind that the server served.
    is_filled: bool,
}

/// What the sink has of the collection.
enum ReflectorState {
    /// The sink has no state, or an outdated one: the state must be read.
    Unsynced {
        freshness: Freshness,
        /// How many times in a row the server did not find the collection.
        not_found: u32,
    },
    /// The sink has all changes up to this resourceVersion: watch from there.
    Synced { resource_version: String },
}

impl ReflectorState {
    fn unsynced(freshness: Freshness) -> Self {
        Self::Unsynced {
            freshness,
            not_found: 0,
        }
    }
}

impl Reflector {
    /// A reflector of the objects that `spec` selects.
    pub fn new(client: Client, spec: InformerSpec, options: ReflectorOptions) -> Self {
        Self {
            backoff: RetryBackoff::new(options.seed),
            collection: Collection::new(client, spec, options),
            is_filled: false,
        }
    }

    /// Lists and watches until `cancel`. A panic counts as a failure, after which the state is read
    /// again.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, the sink keeps what it has and receives nothing more.
    pub async fn run(mut self, sink: &mut impl Sink, cancel: &CancellationToken) {
        let endless = async {
            let mut freshness = Freshness::Any;
            loop {
                let state = ReflectorState::unsynced(freshness);
                let running = AssertUnwindSafe(self.list_and_watch(state, sink));
                let Err(panic) = running.catch_unwind().await;
                // The sink can be newer than the cache of the server.
                freshness = Freshness::Latest;
                let error = Error::Panicked {
                    what: format!("follow {}", self.collection.spec.what()),
                    message: panic_message(panic.as_ref()).to_owned(),
                };
                let wait = self.backoff.failed();
                self.pause(error, wait, sink).await;
            }
        };
        cancel.run_until_cancelled(endless).await;
    }

    async fn list_and_watch(
        &mut self,
        mut state: ReflectorState,
        sink: &mut impl Sink,
    ) -> Infallible {
        loop {
            let is_streaming = self.collection.options.streaming.is_on();
            let result = match &state {
                ReflectorState::Unsynced { .. } if is_streaming => {
                    self.watch(WatchState::initial(), sink).await
                }
                ReflectorState::Unsynced { freshness, .. } => self.list(*freshness, sink).await,
                ReflectorState::Synced { resource_version } => {
                    let following = WatchState::Following(resource_version.clone());
                    self.watch(following, sink).await
                }
            };
            state = match result {
                Ok(next) => {
                    self.is_filled = true;
                    next
                }
                Err(error) => self.after_failed_read(state, error, sink).await,
            };
        }
    }

    async fn list(
        &mut self,
        freshness: Freshness,
        sink: &mut impl Sink,
    ) -> Result<ReflectorState, Error> {
        let listed = list(&mut self.collection, freshness, sink).await?;
        sink.replace(listed.records, &listed.resource_version);
        let what = format!("list {}", self.collection.spec.what());
        listed.skipped.report(&what, sink);
        Ok(ReflectorState::Synced {
            resource_version: listed.resource_version,
        })
    }

    /// Watches once. Fails where a streaming list did not complete.
    async fn watch(
        &mut self,
        from: WatchState,
        sink: &mut impl Sink,
    ) -> Result<ReflectorState, Error> {
        let timeout = self.backoff.between(WATCH_TIMEOUT.0, WATCH_TIMEOUT.1);
        match watch(&mut self.collection, from, timeout, sink).await {
            WatchEnd::Incomplete(error) => Err(error),
            WatchEnd::Reached {
                resource_version,
                result,
            } => Ok(self.after_watch(resource_version, result, sink).await),
        }
    }

    /// Resumes the watch, unless the server no longer has the revision or no longer serves the
    /// kind. Then only the state helps, and the server's cache would be just as old.
    async fn after_watch(
        &mut self,
        resource_version: String,
        result: Result<(), Error>,
        sink: &mut impl Sink,
    ) -> ReflectorState {
        if let Err(error) = result {
            let reason = error.status().map(ErrorReason::of);
            self.collection.options.protobuf.disable_after(&error);
            self.after_failure(error, sink).await;
            if matches!(reason, Some(ErrorReason::Expired | ErrorReason::NotFound)) {
                return ReflectorState::unsynced(Freshness::Latest);
            }
        }
        ReflectorState::Synced { resource_version }
    }

    /// How the state is read next after it could not be read.
    async fn after_failed_read(
        &mut self,
        state: ReflectorState,
        error: Error,
        sink: &mut impl Sink,
    ) -> ReflectorState {
        let (mut freshness, mut not_found) = match state {
            ReflectorState::Unsynced {
                freshness,
                not_found,
            } => (freshness, not_found),
            ReflectorState::Synced { .. } => (Freshness::Latest, 0),
        };
        let reason = error.status().map(ErrorReason::of);
        // The server's cache is behind, or its history no longer has the revision.
        if matches!(
            reason,
            Some(ErrorReason::Expired | ErrorReason::ResourceVersionTooLarge)
        ) {
            freshness = Freshness::Latest;
        }
        let options = &self.collection.options;
        let is_fallback = options.protobuf.disable_after(&error)
            || options.streaming.is_on() && options.streaming.disable_after(&error);
        if !is_fallback {
            let is_not_found = reason == Some(ErrorReason::NotFound);
            not_found = if is_not_found { not_found + 1 } else { 0 };
            // Only after two responses with a wait between them: a server that starts can respond
            // with a single 404.
            if not_found == 2 && std::mem::take(&mut self.is_filled) {
                sink.kind_removed();
            }
            self.after_failure(error, sink).await;
        }
        ReflectorState::Unsynced {
            freshness,
            not_found,
        }
    }

    async fn after_failure(&mut self, error: Error, sink: &mut impl Sink) {
        let backoff = match &error {
            Error::ConnectionLost { .. } | Error::TimedOut { .. } => self.backoff.interrupted(),
            _ if is_expired(&error) => self.backoff.expired(),
            _ => self.backoff.failed(),
        };
        let wait = match error.status().map(ErrorReason::of) {
            Some(ErrorReason::NotFound | ErrorReason::Forbidden) => backoff.min(MAX_BLOCKED_WAIT),
            _ => backoff,
        };
        self.pause(error, wait, sink).await;
    }

    /// Reports a failure and waits, at least as long as the server's `Retry-After`.
    async fn pause(&self, error: Error, wait: Duration, sink: &mut impl Sink) {
        let retry_after = error
            .status()
            .and_then(|status| status.details.as_ref())
            .map_or(0, |details| details.retry_after_seconds);
        sink.failed(Arc::new(error));
        tokio::time::sleep(wait.max(Duration::from_secs(retry_after.into()))).await;
    }
}

impl fmt::Debug for Reflector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reflector")
            .field("spec", &self.collection.spec)
            .field("options", &self.collection.options)
            .finish_non_exhaustive()
    }
}

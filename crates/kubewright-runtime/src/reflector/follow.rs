use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use kube::Client;
use tokio_util::sync::CancellationToken;

use super::intake::Intake;
use super::list::{Freshness, List, is_expired};
use super::protobuf::Learnt;
use super::watch::Watch;
use super::{InformerSpec, ReflectorOptions, RetryBackoff, Sink};
use crate::Error;
use crate::client::ErrorReason;
use crate::panic_message::panic_message;

/// The bounds of `timeoutSeconds`, as client-go has them: spread, so that not all watches of a
/// cluster end at once.
const WATCH_LENGTH: (Duration, Duration) = (Duration::from_secs(300), Duration::from_secs(600));

/// What somebody has to permit or to install is looked for so often at least.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Follows one collection and tells a [`Sink`] about it.
pub struct Reflector {
    client: Client,
    spec: InformerSpec,
    options: ReflectorOptions,
    intake: Intake,
    backoff: RetryBackoff,
    /// Whether the sink has the state of a kind that was served.
    is_filled: bool,
}

impl Reflector {
    /// A reflector of the objects that `spec` names.
    pub fn new(client: Client, spec: InformerSpec, options: ReflectorOptions) -> Self {
        Self {
            client,
            intake: Intake::new(&spec, &options),
            spec,
            backoff: RetryBackoff::new(options.seed),
            is_filled: false,
            options,
        }
    }

    /// Lists and watches until `cancel`. A panic is a failure like any other, after which
    /// everything is listed anew.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the sink has what it was told and hears nothing more.
    pub async fn run(mut self, sink: &mut impl Sink, cancel: &CancellationToken) {
        let endless = async {
            let mut freshness = Freshness::Any;
            loop {
                let following = AssertUnwindSafe(self.follow(freshness, sink));
                let Err(panic) = following.catch_unwind().await;
                // What the sink has may be newer than what a server has at hand.
                freshness = Freshness::Latest;
                let error = Error::Panicked {
                    what: format!("follow {}", self.spec.what()),
                    message: panic_message(panic.as_ref()).to_owned(),
                };
                let wait = self.backoff.failed();
                self.pause(error, wait, sink).await;
            }
        };
        cancel.run_until_cancelled(endless).await;
    }

    async fn follow(&mut self, mut freshness: Freshness, sink: &mut impl Sink) -> Infallible {
        loop {
            let mut resource_version = String::new();
            let begun = self
                .start(&mut freshness, &mut resource_version, sink)
                .await;
            self.is_filled = true;
            // Ends when the server has forgotten the revision; then only the state can help, and
            // one from its cache would be as old.
            self.watch(begun, &mut resource_version, sink).await;
            freshness = Freshness::Latest;
        }
    }

    /// Takes the state in, however often it has to be tried; the result is that of the watch that
    /// it was the beginning of.
    async fn start(
        &mut self,
        freshness: &mut Freshness,
        resource_version: &mut String,
        sink: &mut impl Sink,
    ) -> Result<(), Error> {
        let mut missed = 0;
        loop {
            let tried = match self.options.streaming.is_on() {
                true => self.stream(resource_version, sink).await,
                false => self.list(*freshness, resource_version, sink).await,
            };
            if !resource_version.is_empty() {
                return tried;
            }
            let Err(error) = tried else {
                // A list without a revision: there is none to watch from.
                return Ok(());
            };
            let reason = error.status().map(ErrorReason::of);
            // The cache of this server is behind, or its history is gone.
            if matches!(
                reason,
                Some(ErrorReason::Expired | ErrorReason::ResourceVersionTooLarge)
            ) {
                *freshness = Freshness::Latest;
            }
            if self.options.protobuf.learn(&error) == Learnt::Declined {
                continue;
            }
            if self.options.streaming.is_on() && refuses_streams(&error) {
                self.options.streaming.decline(&error);
                continue;
            }
            let is_missing = reason == Some(ErrorReason::NotFound);
            missed = if is_missing { missed + 1 } else { 0 };
            // Said twice, with a pause between: one answer may be that of a server in disorder.
            if missed == 2 && std::mem::take(&mut self.is_filled) {
                sink.withdrawn();
            }
            self.after_failure(error, sink).await;
        }
    }

    async fn list(
        &mut self,
        freshness: Freshness,
        resource_version: &mut String,
        sink: &mut impl Sink,
    ) -> Result<(), Error> {
        let list = List {
            client: &self.client,
            spec: &self.spec,
            options: &self.options,
            intake: &mut self.intake,
        };
        let listed = list.read(freshness, sink).await?;
        sink.replace(listed.records, &listed.resource_version);
        let what = format!("list {}", self.spec.what());
        listed.skipped.tell(&what, sink);
        *resource_version = listed.resource_version;
        Ok(())
    }

    async fn stream(
        &mut self,
        resource_version: &mut String,
        sink: &mut impl Sink,
    ) -> Result<(), Error> {
        let watch = self.one_watch();
        watch.follow_state(resource_version, sink).await
    }

    /// Watches, again and again, until the state must be read anew: the server no longer knows the
    /// revision, or nobody serves the kind. `ended` is the result of the watch before.
    async fn watch(
        &mut self,
        mut ended: Result<(), Error>,
        resource_version: &mut String,
        sink: &mut impl Sink,
    ) {
        loop {
            if let Err(error) = ended {
                let reason = error.status().map(ErrorReason::of);
                self.options.protobuf.learn(&error);
                self.after_failure(error, sink).await;
                if matches!(reason, Some(ErrorReason::Expired | ErrorReason::NotFound)) {
                    return;
                }
            }
            ended = self.one_watch().follow(resource_version, sink).await;
        }
    }

    fn one_watch(&mut self) -> Watch<'_> {
        Watch {
            client: &self.client,
            spec: &self.spec,
            options: &self.options,
            intake: &mut self.intake,
            length: self.backoff.between(WATCH_LENGTH.0, WATCH_LENGTH.1),
        }
    }

    async fn after_failure(&mut self, error: Error, sink: &mut impl Sink) {
        let wait = match &error {
            Error::ConnectionLost { .. } | Error::TimedOut { .. } => self.backoff.interrupted(),
            _ if is_expired(&error) => self.backoff.expired(),
            _ => self.backoff.failed(),
        };
        let wait = match error.status().map(ErrorReason::of) {
            Some(ErrorReason::NotFound | ErrorReason::Forbidden) => wait.min(LOOK_AGAIN),
            _ => wait,
        };
        self.pause(error, wait, sink).await;
    }

    async fn pause(&self, error: Error, wait: Duration, sink: &mut impl Sink) {
        let asked = error.status().and_then(|status| status.details.as_ref());
        let asked = asked.map_or(0, |details| details.retry_after_seconds);
        sink.failed(Arc::new(error));
        tokio::time::sleep(wait.max(Duration::from_secs(asked.into()))).await;
    }
}

/// Whether the server has shown that it does not stream lists: it refuses the question, or does
/// not tell the end of the state.
fn refuses_streams(error: &Error) -> bool {
    let Some(status) = error.status() else {
        return matches!(error, Error::StreamingListStalled { .. });
    };
    // Before 1.27, and where the gate WatchList is off: "sendInitialEvents is forbidden".
    ErrorReason::of(status) == ErrorReason::Invalid || matches!(status.code, 400 | 405 | 406 | 501)
}

impl std::fmt::Debug for Reflector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reflector")
            .field("spec", &self.spec)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use kube::Client;
use kubewright_wire::record::{Encoder, EncoderOptions};
use tokio_util::sync::CancellationToken;

use super::list::{Freshness, List, is_expired};
use super::watch::Watch;
use super::{InformerSpec, ReflectorOptions, RetryBackoff, Sink};
use crate::Error;
use crate::client::Meaning;
use crate::controller::panic::message_of;

/// The bounds of `timeoutSeconds`, as client-go has them: spread, so that not all watches of a
/// cluster end at once.
const WATCH_LENGTH: (Duration, Duration) = (Duration::from_secs(300), Duration::from_secs(600));

/// Follows one collection and tells a [`Sink`] about it.
pub struct Reflector {
    client: Client,
    spec: InformerSpec,
    options: ReflectorOptions,
    encoder: Encoder,
    backoff: RetryBackoff,
}

impl Reflector {
    /// A reflector of the objects that `spec` names.
    pub fn new(client: Client, spec: InformerSpec, options: ReflectorOptions) -> Self {
        let encoder = Encoder::new(EncoderOptions {
            field_manager: options.field_manager.clone(),
            kind: Some(spec.resource.kind.clone()),
        });
        Self {
            client,
            spec,
            encoder,
            backoff: RetryBackoff::new(options.seed),
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
                    message: message_of(panic.as_ref()).to_owned(),
                };
                let wait = self.backoff.failed();
                self.pause(error, wait, sink).await;
            }
        };
        cancel.run_until_cancelled(endless).await;
    }

    async fn follow(&mut self, mut freshness: Freshness, sink: &mut impl Sink) -> Infallible {
        loop {
            let mut resource_version = self.list(&mut freshness, sink).await;
            // Ends when the server has forgotten the revision; then only a list can help, and one
            // from its cache would be as old.
            self.watch(&mut resource_version, sink).await;
            freshness = Freshness::Latest;
        }
    }

    /// Lists until it succeeds.
    async fn list(&mut self, freshness: &mut Freshness, sink: &mut impl Sink) -> String {
        loop {
            let list = List {
                client: &self.client,
                spec: &self.spec,
                options: &self.options,
                encoder: &mut self.encoder,
            };
            let error = match list.read(*freshness, sink).await {
                Ok(listed) => {
                    sink.replace(listed.records, &listed.resource_version);
                    let what = format!("list {}", self.spec.what());
                    listed.skipped.tell(&what, sink);
                    return listed.resource_version;
                }
                Err(error) => error,
            };
            // The cache of this server is behind, or its history is gone.
            let meaning = error.status().map(Meaning::of);
            if matches!(meaning, Some(Meaning::Expired | Meaning::Ahead)) {
                *freshness = Freshness::Latest;
            }
            let wait = self.backoff.failed();
            self.pause(error, wait, sink).await;
        }
    }

    /// Watches, again and again, until the server no longer knows the revision.
    async fn watch(&mut self, resource_version: &mut String, sink: &mut impl Sink) {
        loop {
            let watch = Watch {
                client: &self.client,
                spec: &self.spec,
                options: &self.options,
                encoder: &mut self.encoder,
                length: self.backoff.between(WATCH_LENGTH.0, WATCH_LENGTH.1),
            };
            let Err(error) = watch.follow(resource_version, sink).await else {
                continue;
            };
            let expired = is_expired(&error);
            let wait = match &error {
                _ if expired => self.backoff.interrupted(),
                Error::Broken { .. } | Error::Silent { .. } => self.backoff.interrupted(),
                _ => self.backoff.failed(),
            };
            self.pause(error, wait, sink).await;
            if expired {
                return;
            }
        }
    }

    async fn pause(&self, error: Error, wait: Duration, sink: &mut impl Sink) {
        let asked = error.status().and_then(|status| status.details.as_ref());
        let asked = asked.map_or(0, |details| details.retry_after_seconds);
        sink.failed(Arc::new(error));
        tokio::time::sleep(wait.max(Duration::from_secs(asked.into()))).await;
    }
}

impl std::fmt::Debug for Reflector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reflector")
            .field("spec", &self.spec)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

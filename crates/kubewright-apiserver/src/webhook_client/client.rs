//! The client that calls webhooks.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Uri;
use kubewright_core::Clock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::config::ClientConfig;
use super::connect::Dialer;
use super::connections::{Connections, WebhookResponse};
use super::endpoints::WebhookEndpoints;
use super::error::CallError;
use super::messages::{ResponseFormat, error_message, post, undecodable};
use crate::store::{Random, Store};

/// The error of Go for a connection that the webhook has reset.
const RESET: &str = "connection reset by peer";

/// Calls webhooks over connections that it reuses. Clones share the connections.
#[derive(Clone, Debug)]
pub(crate) struct WebhookClient {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    dialer: Dialer,
    connections: Connections,
    random: Arc<Random>,
}

/// A call to a webhook.
#[derive(Clone, Debug)]
pub(crate) struct WebhookCall<'a> {
    pub(crate) client: &'a ClientConfig,
    /// The URL with its parameters.
    pub(crate) url: String,
    pub(crate) timeout: Duration,
    pub(crate) response: ResponseFormat,
}

impl WebhookClient {
    /// A client that finds Services in the store and verifies certificates by the clock.
    pub(crate) fn new(store: Store, clock: Clock, random: Arc<Random>) -> Self {
        let dialer = Dialer {
            store,
            clock,
            registered: WebhookEndpoints::default(),
        };
        Self {
            inner: Arc::new(Inner {
                dialer,
                connections: Connections::default(),
                random,
            }),
        }
    }

    /// A new uid for a review.
    pub(crate) fn review_uid(&self) -> String {
        self.inner.random.uid()
    }

    /// Webhook servers in this process, which are reached without a socket.
    pub(crate) fn endpoints(&self) -> &WebhookEndpoints {
        &self.inner.dialer.registered
    }

    /// Sends a review and reads the response. Callers prefix the error with `failed to call
    /// webhook: `.
    pub(crate) async fn call<Q: Serialize, A: DeserializeOwned>(
        &self,
        call: &WebhookCall<'_>,
        review: &Q,
    ) -> Result<A, CallError> {
        let response = self.send(call, review).await?;
        let WebhookResponse {
            code,
            headers,
            body,
        } = response;
        if !(200..=206).contains(&code.as_u16()) {
            let message = error_message(code, &headers, &body);
            return Err(match code.as_u16() {
                429 | 500 | 504 => CallError::transient(message),
                _ => CallError::permanent(message),
            });
        }
        serde_json::from_slice(&body)
            .map_err(|error| CallError::permanent(undecodable(&body, &error, call.response)))
    }

    async fn send<Q: Serialize>(
        &self,
        call: &WebhookCall<'_>,
        review: &Q,
    ) -> Result<WebhookResponse, CallError> {
        let url = &call.url;
        let failed = |why: String| {
            let message = format!("Post {url:?}: {why}");
            if why.contains(RESET) {
                CallError::transient(message)
            } else {
                CallError::permanent(message)
            }
        };
        let uri: Uri = url.parse().map_err(|_| failed("invalid URL".to_owned()))?;
        let json = serde_json::to_vec(review).map_err(|error| failed(error.to_string()))?;
        let body = Bytes::from(json);
        let Inner {
            dialer,
            connections,
            ..
        } = &*self.inner;
        let exchange = connections.send(dialer, call.client, &uri, || post(&uri, body.clone()));
        match timeout(call.timeout, exchange).await {
            Ok(result) => result.map_err(failed),
            Err(_) => Err(failed("context deadline exceeded".to_owned())),
        }
    }
}

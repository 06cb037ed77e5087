//! The options of a run: clock, servers, election and limits.

use std::time::Duration;

use kubewright_core::Clock;
use kubewright_runtime::client::ClientLimits;
use kubewright_webhook::Incoming;

use super::election::ElectionOptions;
use crate::endpoint::MetricsServing;
use crate::webhook::WebhookServing;

/// The options of one run of an operator.
#[derive(Debug)]
pub struct RunOptions {
    /// The clock, which tests can set.
    pub clock: Clock,
    /// The grace period for running work once the operator stops.
    pub grace: Duration,
    /// The server of webhooks. Without it they are not served.
    pub webhooks: Option<WebhookServing>,
    /// The election in which this copy takes part. Without it this copy always leads.
    pub election: Option<ElectionOptions>,
    /// The connections for `/healthz` and `/readyz`. Without them they are not served.
    pub probes: Option<Incoming>,
    /// The server of `/metrics`. Without it they are not served.
    pub metrics: Option<MetricsServing>,
    /// Rate limit, retries and timeout of the operator's clients. The default has no retries,
    /// because controllers retry.
    pub limits: ClientLimits,
    /// The address of the API server, for metrics.
    pub host: String,
    /// The operator's own namespace; the default is `NAME-system`, as in its manifests.
    pub namespace: Option<String>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            clock: Clock::system(),
            grace: Duration::from_secs(30),
            webhooks: None,
            election: None,
            probes: None,
            metrics: None,
            limits: ClientLimits {
                retries: 0,
                ..ClientLimits::default()
            },
            host: String::new(),
            namespace: None,
        }
    }
}

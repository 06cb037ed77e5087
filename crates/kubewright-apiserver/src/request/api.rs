//! What the handlers of requests work with.

use std::sync::Arc;

use kubewright_core::Clock;

use super::workers::Workers;
use crate::admission::AdmissionChain;
use crate::authentication::Authenticator;
use crate::authorization::Authorizer;
use crate::resources::Catalog;
use crate::store::{Random, Store, timestamp};
use crate::webhook_client::WebhookClient;

/// The parts of the server that requests go through.
#[derive(Debug)]
pub(crate) struct Api {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) random: Arc<Random>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) authenticator: Authenticator,
    pub(crate) authorizer: Authorizer,
    pub(crate) admission: AdmissionChain,
    pub(crate) webhooks: WebhookClient,
    pub(crate) workers: Workers,
}

impl Api {
    /// The current time as objects carry it.
    pub(crate) fn timestamp(&self) -> String {
        timestamp(self.clock.now())
    }
}

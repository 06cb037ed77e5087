//! What the plugins of the admission chain work with.

use std::sync::Arc;

use crate::resources::Catalog;
use crate::store::{Random, Store};
use crate::webhook_client::WebhookClient;

/// What plugins, policies and webhooks read besides the attributes of a request.
#[derive(Debug)]
pub(crate) struct AdmissionContext {
    pub(crate) store: Store,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) webhooks: WebhookClient,
    pub(crate) random: Arc<Random>,
}

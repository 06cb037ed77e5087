//! `kubewright create`: a kind with its controller, or a webhook, in a project that is there.

mod api;
mod ask;
mod conversion;
mod known;
mod module_path;
mod registration;
mod version;
mod webhook;

pub(crate) use api::{ApiArguments, run as api};
pub(crate) use webhook::{WebhookArguments, run as webhook};

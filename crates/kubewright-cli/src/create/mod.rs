//! `kubewright create`: adds a kind with its controller, or a webhook, to an existing project.

mod api;
mod builtin_kinds;
mod conversion;
mod module_path;
mod prompt;
mod registration;
mod version;
mod webhook;
mod webhook_parts;

pub(crate) use api::{ApiArguments, run as api};
pub(crate) use webhook::{WebhookArguments, run as webhook};

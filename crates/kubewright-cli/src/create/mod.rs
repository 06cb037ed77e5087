//! `kubewright create`: a kind with its controller, or a webhook, in a project that is there.

mod api;
mod builtin_kinds;
mod conversion;
mod module_path;
mod prompt;
mod registration;
mod version;
mod webhook;

pub(crate) use api::{ApiArguments, run as api};
pub(crate) use webhook::{WebhookArguments, run as webhook};

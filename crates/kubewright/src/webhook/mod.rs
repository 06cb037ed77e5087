//! Admission webhooks as functions over the user's types.

mod admission;
mod change;
mod denied;
mod findings;
mod handler;
mod registered;
mod serving;

pub use admission::Admission;
pub use change::Change;
pub use denied::Denied;
pub use findings::Findings;
pub use registered::Webhook;
pub(crate) use serving::{Reads, WebhookParts};
pub use serving::{Repetition, WebhookServing};

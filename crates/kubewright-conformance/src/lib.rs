//! The differential suite: the same requests to the embedded and to a real cluster, compared.
//!
//! A [`Case`] is data: a few requests, and the row of `docs/fidelity.md` that it is about. It
//! contains no expected responses, because the real server's responses are the expected ones.
//! Values that differ from run to run (uids, times, revisions) are masked in one place, and
//! counted.

mod case;
mod compare;
mod conversion;
mod error;
mod exchange;
mod mask;
mod play;
mod response;
mod seeded_fault;
mod sequence;
mod settings;
mod stub;
mod target;
mod varying;
mod webhooks;

pub use case::{Case, PatchType, Step};
pub use compare::{Difference, compare};
pub use error::Error;
pub use mask::{MaskCount, Masks};
pub use play::play;
pub use response::Response;
pub use seeded_fault::SeededFault;
pub use sequence::{Shrunk, definition, sequence, shrink};
pub use settings::Settings;
pub use stub::WebhookStub;
pub use target::Target;
pub use webhooks::CaseWebhook;

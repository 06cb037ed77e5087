//! The same requests to an embedded and a real cluster, and what their answers differ in.
//!
//! A case is data: a few requests, the row of `docs/fidelity.md` it is about, nothing expected.
//! The real server's answers are what is right. What differs from run to run (uids, times,
//! revisions) is masked, in one place, and counted.

mod answer;
mod case;
mod compare;
mod conversion;
mod mask;
mod play;
mod random;
mod stub;
mod varying;
mod webhooks;

pub use answer::Answer;
pub use case::{Case, PatchType, Step};
pub use compare::{Difference, compare};
pub use mask::{MaskCount, Masks};
pub use play::play;
pub use random::{Shrunk, definition, sequence, shrink};
pub use stub::WebhookStub;
pub use webhooks::CaseWebhook;

//! The one door for writes: server-side apply, status and delete, each sent only when it changes
//! something, each answer kept beside the store so that the next read sees it.

mod contains;
mod create_or_patch;
mod difference;
mod error;
mod finalizers;
mod intent;
mod memory;
mod request;
mod status;
mod tried;
mod versions;
mod writer;

pub use create_or_patch::WriteResult;
pub use error::WriteError;
pub use finalizers::FinalizerChange;
pub use intent::Intent;
pub use status::StatusChange;
pub use writer::{Target, Writer};

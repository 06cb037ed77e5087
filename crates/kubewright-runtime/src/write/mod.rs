//! Writes of objects: server-side apply, status, merge patch and delete.
//!
//! A request is sent only when it changes something. Its response enters the store's overlay, so
//! that the next read from the cache returns it.

mod attempt;
mod attempt_error;
mod contains;
mod create_or_patch;
mod deletion;
mod difference;
mod error;
mod finalizers;
mod intent;
mod last_writes;
mod request;
mod status;
mod target;
mod versions;
mod write_result;
mod writer;

pub use error::WriteError;
pub use finalizers::FinalizerChange;
pub use intent::Intent;
pub use status::StatusChange;
pub use target::Target;
pub use write_result::WriteResult;
pub use writer::Writer;

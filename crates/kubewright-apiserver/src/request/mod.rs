//! Requests for objects.
//!
//! `message` is a request after HTTP; `execute` finds its handler in `verbs` or `subresources`;
//! `steps` are what handlers are made of, with the write pipeline in `steps/write.rs`;
//! `response` is what they return, and `settled` waits for the disk before it.

mod api;
mod codec;
mod conditions;
mod definitions;
mod deletion;
mod execute;
mod list;
mod message;
mod options;
mod response;
mod settled;
mod steps;
mod subresources;
mod target;
mod verbs;
mod watch_stream;
mod workers;

pub(crate) use api::Api;
pub(crate) use execute::execute;
pub use list::List;
pub use message::{ApiRequest, Content, PatchKind};
pub use response::{ApiBody, ApiResponse};
pub(crate) use settled::settled;
pub use watch_stream::Watch;
pub(crate) use workers::Workers;

//! The verbs of requests for objects.

mod delete;
mod get;
mod list;
mod review;
mod watch;
mod write;

pub(super) use delete::{delete, delete_collection, delete_evicted};
pub(super) use get::get;
pub(super) use list::list;
pub(super) use review::review;
pub(super) use watch::watch;
pub(super) use write::write;

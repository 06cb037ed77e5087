//! Subresources of objects.

mod binding;
mod connect;
mod dispatch;
mod eviction;
mod finalize;
mod request_object;
mod scale;
mod token;

pub(super) use dispatch::execute;

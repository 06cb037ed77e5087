//! Subresources of objects.

mod binding;
mod connect;
mod dispatch;
mod eviction;
mod finalize;
mod scale;
mod token;

pub(super) use dispatch::execute;

//! The runtime against an API server that says what a test wrote down.

mod cache;
mod following;
mod scripted;
mod subscriptions;

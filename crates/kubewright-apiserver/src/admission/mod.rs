//! What stands between a request and the store besides the rules of its kind.

pub(crate) mod webhook;

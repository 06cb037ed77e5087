//! API servers that benchmarks run against.

mod embedded;
mod kind;

pub(crate) use kind::Server;

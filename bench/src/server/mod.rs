//! The API servers that benchmarks run against.

mod api_server;
mod embedded;

pub(crate) use api_server::ApiServer;

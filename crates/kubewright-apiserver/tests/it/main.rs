//! The server as its clients see it: plain HTTP requests to the service, virtual time.

mod client;
mod objects;

//! The server as its clients see it: plain HTTP requests to the service, virtual time.

mod access;
mod behaviour;
mod caller;
mod client;
mod custom;
mod deletes;
mod deletion;
mod discovery;
mod faults;
mod lists;
mod objects;
mod patches;
mod serving;
mod store;
mod watches;
mod world;

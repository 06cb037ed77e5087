//! The server as its clients see it: plain HTTP requests to the service, virtual time.

mod access;
mod client;
mod custom;
mod deletes;
mod discovery;
#[cfg(feature = "disk")]
mod disk;
mod eviction;
mod faults;
mod forms;
mod hostile;
mod lists;
mod objects;
mod openapi;
mod patches;
mod plugins;
mod policies;
mod races;
mod scale;
mod serving;
mod sizes;
mod socket;
mod store;
mod watches;
mod webhook;

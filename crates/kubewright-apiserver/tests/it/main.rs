//! The server as its clients see it: plain HTTP requests to the service, virtual time.

mod access;
mod behaviour;
mod caller;
mod client;
mod custom;
mod deletes;
mod deletion;
mod discovery;
mod eviction;
mod faults;
mod forms;
mod grants;
mod lists;
mod many;
mod nodes;
mod objects;
mod openapi;
mod patches;
mod races;
mod scale;
mod serving;
mod store;
mod traffic;
mod watches;
mod workloads;
mod world;

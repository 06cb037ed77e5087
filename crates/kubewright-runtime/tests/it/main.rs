//! The runtime against an API server that says what a test wrote down.

mod blocked;
mod cache;
mod controllers;
mod create_or_patch;
mod debounce;
mod election;
mod following;
mod indexes;
mod lease_server;
mod lifetimes;
mod obstacles;
mod outages;
mod priorities;
mod projections;
mod protobuf;
mod queue;
mod queue_model;
mod scripted;
mod store_model;
mod streaming;
mod subscriptions;
mod unreadable;
mod writing;

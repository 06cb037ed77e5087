//! Tests of the runtime against an API server with scripted responses.

mod blocked;
mod cache;
mod controllers;
mod create_or_patch;
mod debounce;
mod election;
mod indexes;
mod lease_server;
mod lifetimes;
mod list_watch;
mod obstacles;
mod outages;
mod priorities;
mod projections;
mod protobuf;
mod queue;
mod queue_model;
mod scripted_server;
mod store_model;
mod streaming;
mod subscriptions;
mod unreadable;
mod writing;

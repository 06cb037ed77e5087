//! The garbage collector: deletes objects whose owners no longer exist.
//!
//! An owner that is deleted in the foreground waits for the dependents that block it. An owner
//! that orphans its dependents is first removed from their owner references.

mod controller;
mod graph;

pub(crate) use controller::GarbageCollector;

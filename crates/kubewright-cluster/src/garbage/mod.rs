//! The garbage collector: objects live as long as one of their owners does.
//!
//! What has lost all its owners is deleted. An owner that is deleted in the foreground waits for
//! the dependents that block it; one that orphans its dependents is taken out of their owner
//! references first.

mod collect;
mod graph;

pub(super) use collect::GarbageCollector;

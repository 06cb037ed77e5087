//! Deletion of objects: the options of requests, and what a deletion does to a stored object.

mod options;
mod rules;

pub(super) use options::{DeleteOptions, Preconditions};
pub(super) use rules::{
    DEFINITION_FINALIZER, Deleted, DeletionStep, deletion_step, simulate_deletion, store_deletion,
};

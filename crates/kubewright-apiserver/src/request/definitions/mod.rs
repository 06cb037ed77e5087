//! What the server does with CustomResourceDefinitions besides storing them.

mod accept;
mod cleanup;
mod names;

pub(super) use accept::accept;
pub(super) use cleanup::{clean_up, object_removed};

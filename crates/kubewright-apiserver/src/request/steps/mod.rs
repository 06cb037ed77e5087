//! The steps of requests that read and write objects.
//!
//! `write` is the pipeline of every create, update, patch and apply. Its steps are files here:
//! `change` decodes, `sent_metadata` checks name and namespace, `patch` patches, `ownership` tracks
//! field managers, `guards` finds what a new object depends on, `metadata` prepares, `validate`
//! validates, `version` converts, `commit` stores. `admit` calls admission, also for requests that
//! store no object.

mod admit;
mod attributes;
mod authorize;
mod change;
mod commit;
mod guards;
mod known_versions;
mod metadata;
mod new_name;
mod ownership;
mod part;
mod patch;
mod revision;
mod selection;
mod sent_metadata;
mod service_address;
mod validate;
#[cfg(test)]
mod vectors;
pub(super) mod version;
mod write;

pub(super) use admit::{admit, admit_completed, mutate};
pub(super) use attributes::attributes;
pub(super) use change::{Change, Edit, Ownership};
pub(super) use ownership::{Writer, track_unstored};
pub(super) use part::Part;
pub(super) use patch::{check_options, parse_patch, patch_value};
pub(super) use revision::{parse_revision, wait_for};
pub(super) use selection::Selection;
pub(super) use sent_metadata::check_name;
pub(super) use write::{Admission, Current, MAX_ATTEMPTS, Mode, Write};

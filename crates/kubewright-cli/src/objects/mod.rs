//! Objects of any kind: read from YAML, found in a cluster, applied, compared.

mod apply;
mod diff;
mod located;
mod read;

pub(crate) use apply::{FIELD_MANAGER, Ownership, apply_all, apply_one, try_apply};
pub(crate) use diff::{Difference, difference};
pub(crate) use located::{Kinds, Located};
pub(crate) use read::{read, read_folder};

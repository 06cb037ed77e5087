//! A user's project: its `Cargo.toml`, the names in it, and changes to its files.

mod changes;
mod manifest;
mod names;
mod template;

pub(crate) use changes::{Changes, WrittenFiles, count_files};
pub(crate) use manifest::{DEFAULT_DOMAIN, Project, header};
pub(crate) use names::{
    check_domain, check_kind, check_label, check_version, full_group, module_name,
};
pub(crate) use template::fill;

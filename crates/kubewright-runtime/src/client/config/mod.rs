//! Kubeconfig files: where they are, how they are read and merged.

mod encoding;
mod kubeconfig;

pub(super) use kubeconfig::{from_environment, home_file, merge_files, read_file};

//! Where a cluster is and as whom it is asked, as kubeconfig files say it.

mod encoding;
mod kubeconfig;

pub(super) use kubeconfig::{merged, of_environment, of_file, of_home};

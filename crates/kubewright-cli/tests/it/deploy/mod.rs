//! `install`, `uninstall`, `deploy` and `undeploy` on a cluster with an address.

mod kinds;
mod lifecycle;
mod operator;

//! `kubewright dev`: builds an operator, runs it on a cluster, and restarts it when a file is saved.
//!
//! A [`session`] starts the operator ([`start`]) on its [`cluster`], applies the [`samples`], and
//! shows the cluster's state ([`board`]) and the operator's log ([`operator`]) in a [`view`] until
//! it ends.

mod arguments;
mod board;
mod cluster;
mod idle;
mod install;
mod operator;
mod ready;
mod reconciled;
mod samples;
mod session;
mod shown_kinds;
mod source_files;
mod start;
mod view;
mod webhooks;

pub(crate) use arguments::DevArguments;
pub(crate) use session::run;

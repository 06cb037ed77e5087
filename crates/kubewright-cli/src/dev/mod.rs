//! `kubewright dev`: from a folder to a running operator.

mod arguments;
mod board;
mod cluster;
mod files;
mod idle;
mod install;
mod objects;
mod operator;
mod ready;
mod reconciled;
mod samples;
mod session;
mod view;
mod webhooks;

pub(crate) use arguments::DevArguments;
pub(crate) use session::run;

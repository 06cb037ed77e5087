//! The benchmark `cache`: Pods in an API server, read through the caches of all subjects.

mod embedded;
mod load;
mod pods;
mod random;
mod run;
mod server;
mod vocabulary;

pub(crate) use run::run;

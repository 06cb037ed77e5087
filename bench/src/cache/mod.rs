//! The benchmark `cache`: Pods in an API server, read through the caches of all subjects.

mod load;
mod pods;
mod random;
mod run;
mod vocabulary;

pub(crate) use run::run;

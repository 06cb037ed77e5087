//! The benchmark `cache`: Pods in an API server, read through the cache of each subject.

mod load_pods;
mod pods;
mod random;
mod run;
mod vocabulary;

pub(crate) use run::run;

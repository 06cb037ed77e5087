//! The benchmark `queue`: the time per key in the work queue of each subject.

mod run;

pub(crate) use run::run;

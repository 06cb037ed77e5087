//! The benchmark `queue`: keys through the work queues of all subjects.

mod run;

pub(crate) use run::run;

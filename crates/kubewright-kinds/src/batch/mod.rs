//! The kinds of the group batch.

mod cron_job;
mod job;

pub use cron_job::CRON_JOB;
pub use job::JOB;

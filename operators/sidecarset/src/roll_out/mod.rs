//! How a change of a set reaches the Pods that have its containers: functions of the set and its
//! Pods.

mod hot;
mod member;
mod order;
mod plan;
mod portion;
mod progress;
mod update;

pub use member::{Member, is_active, member};
#[cfg(test)]
pub(crate) use plan::tests;
pub use plan::{Plan, plan};
pub(crate) use portion::{Portion, portion};
pub use progress::{PROGRESSING, Progress, changed_fields};
pub use update::{Update, flipped, updated};

//! Roll-outs of a changed set to the Pods that have its containers: functions of the set and its
//! Pods.

mod containers;
#[cfg(test)]
pub(crate) mod fixtures;
mod hot_upgrade;
mod injected_pod;
mod order;
mod plan;
mod portion;
mod progress;
mod update;

pub use injected_pod::{InjectedPod, injected_pod, is_active};
pub use plan::{Plan, plan};
pub(crate) use portion::Portion;
pub use progress::{PROGRESSING, Progress, changed_fields};
pub use update::{Update, flipped, updated};

//! The kinds of the group policy.

mod eviction;
mod pod_disruption_budget;

pub use eviction::EVICTION;
pub use pod_disruption_budget::POD_DISRUPTION_BUDGET;

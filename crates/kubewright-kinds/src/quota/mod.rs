//! What a ResourceQuota counts.

mod scope;
mod usage;

pub use crate::kind::QuotaUsage as Usage;
pub use scope::is_in_scope;
pub use usage::quota_usage;

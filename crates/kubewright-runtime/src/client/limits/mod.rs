//! Limits that a client keeps towards an API server: rate, retries, timeout; and its warnings.
//!
//! Each is a layer of its own, and [`ClientLimits`] combines them.

mod client_limits;
mod rate_limit;
mod retry_after;
mod timeout;
mod warnings;

pub use client_limits::{ClientLimits, ClientLimitsLayer, Limited};
pub use rate_limit::{RateLimitLayer, RateLimited};
pub use retry_after::RetryAfter;
pub use timeout::{Timeout, TimeoutFuture, TimeoutLayer};
pub use warnings::WarningLog;

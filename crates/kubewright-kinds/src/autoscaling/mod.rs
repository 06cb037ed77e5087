//! The kinds of the group autoscaling.

mod horizontal_pod_autoscaler;
mod scale;

pub use horizontal_pod_autoscaler::HORIZONTAL_POD_AUTOSCALER;
pub use scale::SCALE;

//! Strategic merge patch: a merge patch that merges lists by the keys in the schema
//! (k8s.io/apimachinery/pkg/util/strategicpatch).

mod directive;
mod error;
mod list;
mod merge;
mod order;

pub use error::{StrategicPatchError, go_display};
pub use merge::strategic_merge;

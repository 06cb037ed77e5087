//! Strategic merge patch: a merge patch that knows which lists are merged, and by which key
//! (k8s.io/apimachinery/pkg/util/strategicpatch).

mod error;
mod list;
mod map;
mod order;

pub use error::{StrategicPatchError, printed};
pub use map::strategic_merge;

/// Says what is to become of the struct, map or list it stands in.
const DIRECTIVE: &str = "$patch";
/// Before the name of a list of scalars: what to take out of it.
const DELETE_FROM: &str = "$deleteFromPrimitiveList";
/// Before the name of a list: how its items are to be ordered.
const ELEMENT_ORDER: &str = "$setElementOrder";
/// The fields of a struct that stay; all others go.
const RETAIN_KEYS: &str = "$retainKeys";

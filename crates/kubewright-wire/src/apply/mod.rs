//! Server-side apply and the tracking of field owners, as in sigs.k8s.io/structured-merge-diff and
//! k8s.io/apimachinery/pkg/util/managedfields.
//!
//! Everything is a function of the live object, the new object or the intent, and the [`Write`].
//! Callers pass objects of Kubernetes' own kinds through [`conform`](crate::schema::conform) first,
//! so that fields which Go always writes do not count as changes.

mod cap;
mod compare;
mod conflict;
mod field_set;
pub(crate) mod go_print;
mod item;
mod managed;
mod manager;
mod merge;
mod overlay;
mod prune;
mod reconcile;
mod remove;
mod updater;
mod validate;
mod versions;

pub use conflict::Force;
pub use managed::equal_ignoring_times;
pub use manager::{Write, apply, update};
pub use overlay::overlay;
pub use versions::{ServedVersions, Versions};

//! Server-side apply and the tracking of who owns which field: what
//! sigs.k8s.io/structured-merge-diff and k8s.io/apimachinery/pkg/util/managedfields do.
//!
//! Everything is a function of the live object, the new one or the intent, and the [`Write`]
//! that says who, when and by which types. Objects of Kubernetes' own kinds come as
//! [`conform`](crate::schema::conform) leaves them, so that fields which Go always writes are
//! nobody's news.

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

pub use managed::equal_but_times;
pub use manager::{Force, Write, apply, update};
pub use overlay::overlay;
pub use versions::{ServedVersions, Versions};

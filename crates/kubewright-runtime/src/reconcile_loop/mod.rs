//! Detects reconciles that trigger themselves.
//!
//! A run that writes a different value each time causes an event, and the event causes the next
//! run, without end. [`WriteTracker`], a layer of the client, records the revision of each write of
//! a run, so that the event of that write is recognized. A key that only such events enqueue, many
//! times in a row, is reported as a [`ReconcileLoop`].

mod changed_fields;
mod detector;
mod own_write;
mod report;
mod scope;
mod service;
mod streak;

pub(crate) use detector::{LoopDetector, Trigger};
pub use report::{LoopKind, ReconcileLoop};
pub(crate) use scope::{RunScope, in_run};
pub use service::{WriteTracker, WriteTrackerLayer};

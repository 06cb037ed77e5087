//! Events: what a controller tells the users of an object (`kubectl describe`, `kubectl events`).
//!
//! [`EventRecorder::record`] never waits and never fails: an event that finds no room is counted
//! and lost. The [`EventSink`] writes them in its own time (events.k8s.io/v1), folds repetitions
//! into series as client-go does, and gives each object a budget, so that an object that fails
//! again and again does not fill the cluster's storage.

mod budget;
mod event;
mod recorder;
mod series;
mod sink;

pub use event::{Event, EventKind, Regarding};
pub use recorder::{EventRecorder, Reporter};
pub use sink::EventSink;

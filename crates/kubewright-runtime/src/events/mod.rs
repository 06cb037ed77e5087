//! Events: what a controller reports to the users of an object (`kubectl describe`,
//! `kubectl events`).
//!
//! [`EventRecorder::record`] never waits and never fails: an event is lost and counted when the
//! queue is full. The [`EventSink`] writes the queued events (events.k8s.io/v1), folds repetitions
//! into series as client-go does, and limits the rate of events about each object, so that an
//! object that fails again and again does not fill the cluster's storage.

mod budget;
mod event;
mod recorded;
mod recorder;
mod reporter;
mod series;
mod sink;

pub use event::{Event, EventKind, Regarding};
pub use recorder::EventRecorder;
pub use reporter::Reporter;
pub use sink::EventSink;

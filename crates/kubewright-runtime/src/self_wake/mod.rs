//! Finds reconciles that wake themselves.
//!
//! A run that writes something different each time causes an event, the event causes the next run,
//! and so on without end. Each write of a run is noted with its revision ([`WriteTracker`], a layer
//! of the client), so that the event of the write is known as such; a key that only such events wake
//! again and again is reported ([`SelfWaking`]).

mod changed;
mod report;
mod scope;
mod service;
mod tracker;

pub use report::{SelfWaking, WakeLoop};
pub(crate) use scope::in_run;
pub use service::WriteTracker;
pub(crate) use tracker::{Tracker, Trigger};

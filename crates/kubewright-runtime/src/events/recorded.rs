//! An event in the queue between recorder and sink.

use jiff::Timestamp;

use super::{Event, Regarding};

/// An event, the object that it is about, and when it happened.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) regarding: Regarding,
    pub(super) event: Event,
    pub(super) time: Timestamp,
}

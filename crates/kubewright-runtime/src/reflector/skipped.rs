//! Objects that were skipped because they are unreadable.

use std::sync::Arc;

use kubewright_wire::record::RecordError;

use super::sink::Sink;
use crate::Error;

/// The unreadable objects of a response. They are skipped, so that the others are not lost.
#[derive(Default)]
pub(super) struct SkippedObjects {
    count: u64,
    last: Option<RecordError>,
}

impl SkippedObjects {
    pub(super) fn add(&mut self, error: RecordError) {
        self.count += 1;
        self.last = Some(error);
    }

    /// Reports them to the sink. This comes after the readable objects, whose arrival would
    /// otherwise reset the error.
    pub(super) fn report(self, what: &str, sink: &mut impl Sink) {
        if let Some(source) = self.last {
            let what = what.to_owned();
            sink.skipped(self.count, Arc::new(Error::InvalidObject { what, source }));
        }
    }
}

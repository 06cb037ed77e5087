use std::sync::Arc;

use kubewright_wire::record::{Encoder, Record, RecordError};
use kubewright_wire::scan::ScanError;
use kubewright_wire::status::Status;

use super::Sink;
use crate::Error;

/// What can go wrong with the bytes of a stream.
pub(super) enum ItemError {
    Scan(ScanError),
    Refused(Box<Status>),
}

impl From<ScanError> for ItemError {
    fn from(error: ScanError) -> Self {
        Self::Scan(error)
    }
}

impl ItemError {
    pub(super) fn about(self, what: &str) -> Error {
        let what = what.to_owned();
        match self {
            // The stream broke off: nothing is wrong with the server.
            Self::Scan(source @ ScanError::Cut { .. }) => Error::Broken {
                what,
                source: Box::new(source),
            },
            Self::Scan(source) => Error::Unreadable { what, source },
            Self::Refused(status) => Error::Refused { what, status },
        }
    }
}

/// The record of one object; of one that cannot be read whole, a stub.
pub(super) fn encode(encoder: &mut Encoder, json: &[u8]) -> Result<Record, RecordError> {
    encoder.encode(json).or_else(|cause| {
        // Where there is no stub either, the first error says more.
        let Ok(stub) = encoder.encode_stub(json) else {
            return Err(cause);
        };
        tracing::warn!(
            cause = &cause as &(dyn std::error::Error + 'static),
            "only the metadata of {} {} could be read",
            stub.root()
                .field("kind")
                .and_then(|kind| kind.as_text())
                .unwrap_or_default(),
            stub.key()
        );
        Ok(stub)
    })
}

/// The objects of an answer that were left out: one bad object is no reason to lose the others.
#[derive(Default)]
pub(super) struct Skipped {
    count: u64,
    last: Option<RecordError>,
}

impl Skipped {
    pub(super) fn note(&mut self, error: RecordError) {
        self.count += 1;
        self.last = Some(error);
    }

    /// Tells the sink, after it was told of the others: that they came does not mend these.
    pub(super) fn tell(self, what: &str, sink: &mut impl Sink) {
        if let Some(source) = self.last {
            let what = what.to_owned();
            sink.skipped(self.count, Arc::new(Error::Object { what, source }));
        }
    }
}

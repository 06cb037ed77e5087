use std::sync::Arc;

use kubewright_wire::record::{Encoder, EncoderOptions, Record, RecordError};
use kubewright_wire::scan::{Item, ScanError};
use kubewright_wire::status::Status;

use super::{InformerSpec, ReflectorOptions, Sink, Transform};
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

/// Makes the records of one collection from the bytes of its objects.
pub(super) struct Intake {
    encoder: Encoder,
    transform: Option<Transform>,
}

impl Intake {
    pub(super) fn new(spec: &InformerSpec, options: &ReflectorOptions) -> Self {
        let encoder = Encoder::new(EncoderOptions {
            field_manager: options.field_manager.clone(),
            kind: Some(spec.resource.kind.clone()),
        });
        Self {
            encoder: encoder.keeping(spec.kept()),
            transform: options.transform_of(&spec.resource).cloned(),
        }
    }

    /// The record of one object; of one that cannot be read whole or transformed, a stub.
    pub(super) fn record(&mut self, object: Item<'_>) -> Result<Record, RecordError> {
        let (stub, cause) = match object {
            Item::Whole(json) => match self.whole(json) {
                Ok(record) => return Ok(record),
                Err(cause) => (self.encoder.encode_stub(json), cause),
            },
            Item::Cut(beginning) => {
                let read = beginning.len();
                let stub = self.encoder.encode_beginning(beginning);
                (stub, RecordError::Oversized { read })
            }
        };
        kept_as(stub, cause)
    }

    fn whole(&mut self, json: &[u8]) -> Result<Record, RecordError> {
        let Some(transform) = &self.transform else {
            return self.encoder.encode(json);
        };
        let object = serde_json::from_slice(json).map_err(RecordError::Parse)?;
        self.encoder.encode_value(&transform.apply(object)?)
    }
}

/// The stub of an object, which is logged with the reason why there is no more of it.
pub(super) fn kept_as(
    stub: Result<Record, RecordError>,
    cause: RecordError,
) -> Result<Record, RecordError> {
    // Where there is no stub either, the first error says more.
    let Ok(stub) = stub else {
        return Err(cause);
    };
    tracing::warn!(
        cause = &cause as &(dyn std::error::Error + 'static),
        "only the metadata of {} {} could be kept",
        stub.root()
            .field("kind")
            .and_then(|kind| kind.as_text())
            .unwrap_or_default(),
        stub.key()
    );
    Ok(stub)
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

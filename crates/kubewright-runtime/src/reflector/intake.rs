use std::sync::Arc;

use kubewright_wire::protobuf::{Layout, ProtobufObject};
use kubewright_wire::record::{Encoder, EncoderOptions, Record, RecordError};
use kubewright_wire::scan::{Item, ScanError};
use kubewright_wire::status::Status;
use serde::Deserialize as _;
use serde_json::Value;

use super::form::Form;
use super::{InformerSpec, ReflectorOptions, Sink, Transform};
use crate::Error;
use crate::client::ResponseStream;

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
            Self::Scan(source @ ScanError::Cut { .. }) => Error::ConnectionLost {
                what,
                source: Box::new(source),
            },
            Self::Scan(source) => Error::InvalidResponse { what, source },
            Self::Refused(status) => Error::ErrorResponse { what, status },
        }
    }
}

/// Makes the records of one collection from the bytes of its objects.
pub(super) struct Intake {
    encoder: Encoder,
    transform: Option<Transform>,
    /// How the objects are laid out in protobuf, where they come in it.
    layout: Option<Layout>,
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
            layout: spec.layout(),
        }
    }

    /// The form in which the objects of an answer come.
    pub(super) fn form(&self, response: &ResponseStream) -> Form {
        match self.layout.filter(|_| response.is_protobuf()) {
            Some(layout) => Form::Protobuf(layout),
            None => Form::Json,
        }
    }

    /// The record of one object; of one that cannot be read whole or transformed, a stub.
    pub(super) fn record(&mut self, form: Form, object: Item<'_>) -> Result<Record, RecordError> {
        let (stub, cause) = match object {
            Item::Whole(bytes) => match self.whole(form, bytes) {
                Ok(record) => return Ok(record),
                Err(cause) => (self.stub(form, bytes), cause),
            },
            Item::Cut(beginning) => {
                let read = beginning.len();
                let stub = match form {
                    Form::Json => self.encoder.encode_beginning(beginning),
                    Form::Protobuf(_) => self.stub(form, beginning),
                };
                (stub, RecordError::Oversized { read })
            }
        };
        kept_as(stub, cause)
    }

    fn whole(&mut self, form: Form, bytes: &[u8]) -> Result<Record, RecordError> {
        let Some(transform) = &self.transform else {
            return match form {
                Form::Json => self.encoder.encode(bytes),
                Form::Protobuf(layout) => self.encoder.encode_protobuf(layout, bytes),
            };
        };
        let object = match form {
            Form::Json => serde_json::from_slice(bytes).map_err(RecordError::Parse)?,
            Form::Protobuf(layout) => Value::deserialize(ProtobufObject::new(layout, bytes))
                .map_err(RecordError::Protobuf)?,
        };
        self.encoder.encode_value(&transform.apply(object)?)
    }

    fn stub(&mut self, form: Form, bytes: &[u8]) -> Result<Record, RecordError> {
        match form {
            Form::Json => self.encoder.encode_stub(bytes),
            Form::Protobuf(layout) => self.encoder.encode_protobuf_stub(layout, bytes),
        }
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
            sink.skipped(self.count, Arc::new(Error::InvalidObject { what, source }));
        }
    }
}

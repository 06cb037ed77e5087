//! Encodes the objects of a response as records.

use kubewright_wire::protobuf::{Layout, ProtobufObject};
use kubewright_wire::record::{Encoder, EncoderOptions, Record, RecordError};
use kubewright_wire::scan::Item;
use serde::Deserialize as _;
use serde_json::Value;

use super::body_format::BodyFormat;
use super::options::ReflectorOptions;
use super::spec::InformerSpec;
use super::stub::stub_for;
use super::transform::Transform;
use crate::client::ResponseStream;

/// Encodes the objects of one collection as records.
pub(super) struct RecordReader {
    encoder: Encoder,
    transform: Option<Transform>,
    /// The protobuf layout of the objects, if they have one.
    layout: Option<Layout>,
}

impl RecordReader {
    pub(super) fn new(spec: &InformerSpec, options: &ReflectorOptions) -> Self {
        let encoder = Encoder::new(EncoderOptions {
            field_manager: options.field_manager.clone(),
            kind: Some(spec.resource.kind.clone()),
        });
        Self {
            encoder: encoder.keeping(spec.stored_fields()),
            transform: options.transform_of(&spec.resource).cloned(),
            layout: spec.layout(),
        }
    }

    /// The format of the objects in a response.
    pub(super) fn format(&self, response: &ResponseStream) -> BodyFormat {
        match self.layout.filter(|_| response.is_protobuf()) {
            Some(layout) => BodyFormat::Protobuf(layout),
            None => BodyFormat::Json,
        }
    }

    /// The record of an object, or a stub where it cannot be read whole or transformed.
    pub(super) fn record(
        &mut self,
        format: BodyFormat,
        object: Item<'_>,
    ) -> Result<Record, RecordError> {
        let (stub, cause) = match object {
            Item::Whole(bytes) => match self.whole(format, bytes) {
                Ok(record) => return Ok(record),
                Err(cause) => (self.stub(format, bytes), cause),
            },
            Item::Cut(beginning) => {
                let read = beginning.len();
                let stub = match format {
                    BodyFormat::Json => self.encoder.encode_beginning(beginning),
                    BodyFormat::Protobuf(_) => self.stub(format, beginning),
                };
                (stub, RecordError::Oversized { read })
            }
        };
        stub_for(stub, cause)
    }

    fn whole(&mut self, format: BodyFormat, bytes: &[u8]) -> Result<Record, RecordError> {
        let Some(transform) = &self.transform else {
            return match format {
                BodyFormat::Json => self.encoder.encode(bytes),
                BodyFormat::Protobuf(layout) => self.encoder.encode_protobuf(layout, bytes),
            };
        };
        let object = match format {
            BodyFormat::Json => serde_json::from_slice(bytes).map_err(RecordError::Parse)?,
            BodyFormat::Protobuf(layout) => Value::deserialize(ProtobufObject::new(layout, bytes))
                .map_err(RecordError::Protobuf)?,
        };
        self.encoder.encode_value(&transform.apply(object)?)
    }

    fn stub(&mut self, format: BodyFormat, bytes: &[u8]) -> Result<Record, RecordError> {
        match format {
            BodyFormat::Json => self.encoder.encode_stub(bytes),
            BodyFormat::Protobuf(layout) => self.encoder.encode_protobuf_stub(layout, bytes),
        }
    }
}

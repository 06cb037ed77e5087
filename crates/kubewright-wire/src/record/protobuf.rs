//! Records of objects in protobuf.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::encode::Encoder;
use super::error::RecordError;
use super::flat::Record;
use crate::protobuf::{Layout, ProtobufObject};

impl Encoder {
    /// The record of an object in protobuf, which equals that of its JSON.
    pub fn encode_protobuf(
        &mut self,
        layout: Layout,
        object: &[u8],
    ) -> Result<Record, RecordError> {
        let mut buffers = std::mem::take(&mut self.buffers);
        let written = self.write(ProtobufObject::new(layout, object).with(&mut buffers));
        self.buffers = buffers;
        self.finish(&written.map_err(RecordError::Protobuf)?)
    }

    /// A record with only the metadata, for protobuf that [`Encoder::encode_protobuf`] cannot read or
    /// that is truncated.
    pub fn encode_protobuf_stub(
        &mut self,
        layout: Layout,
        object: &[u8],
    ) -> Result<Record, RecordError> {
        let head = Head::deserialize(ProtobufObject::beginning(layout, object));
        let json = serde_json::to_vec(&head.map_err(RecordError::Protobuf)?);
        self.encode_stub(&json.map_err(RecordError::Parse)?)
    }
}

/// The part of an object that a stub is created from.
#[derive(Deserialize, Serialize)]
struct Head {
    metadata: Value,
}

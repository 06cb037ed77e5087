use serde::Deserialize as _;

use super::stub::Stub;
use super::{Encoder, Record, RecordError};
use crate::protobuf::{Layout, ProtobufObject};

impl Encoder {
    /// The record of an object in protobuf: the same as that of its JSON.
    pub fn encode_protobuf(
        &mut self,
        layout: Layout,
        object: &[u8],
    ) -> Result<Record, RecordError> {
        let mut buffers = std::mem::take(&mut self.buffers);
        let written = self.write(ProtobufObject::new(layout, object).with(&mut buffers));
        self.buffers = buffers;
        self.finish(written.map_err(RecordError::Protobuf)?)
    }

    /// A record of the metadata alone, for protobuf that [`Encoder::encode_protobuf`] cannot read or
    /// that is only the beginning of an object.
    pub fn encode_protobuf_stub(
        &mut self,
        layout: Layout,
        object: &[u8],
    ) -> Result<Record, RecordError> {
        let stub = Stub::deserialize(ProtobufObject::beginning(layout, object));
        self.finish_stub(&stub.map_err(RecordError::Protobuf)?)
    }
}

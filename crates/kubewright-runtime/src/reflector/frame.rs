//! Reads the frames of a watch.

use kubewright_wire::protobuf::{Layouts, ProtobufObject};
use kubewright_wire::record::RecordError;
use kubewright_wire::scan::{Bookmark, Frame, FrameKind, Item, ScanError};
use kubewright_wire::status::Status;

use super::body_format::BodyFormat;
use super::item_error::ItemError;
use super::record_reader::RecordReader;
use crate::store::Delta;

/// The content of one frame of a watch.
pub(super) enum WatchFrame {
    Delta(Delta),
    /// The bookmark after the initial state, with its resourceVersion.
    InitialStateEnd(String),
    /// The object cannot be read.
    Unreadable(RecordError),
}

impl WatchFrame {
    /// Reads a frame. An error ends the watch.
    pub(super) fn read(
        reader: &mut RecordReader,
        format: BodyFormat,
        item: Item<'_>,
    ) -> Result<Self, ItemError> {
        let (frame, is_whole) = match (format, item) {
            (BodyFormat::Json, Item::Whole(line)) => (Frame::parse(line)?, true),
            (BodyFormat::Protobuf(_), Item::Whole(frame)) => (Frame::parse_protobuf(frame)?, true),
            (_, Item::Cut(beginning)) => match parse_beginning(format, beginning) {
                Some(frame) => (frame, false),
                None => {
                    let read = beginning.len();
                    return Ok(Self::Unreadable(RecordError::Oversized { read }));
                }
            },
        };
        let object = if is_whole {
            Item::Whole(frame.object)
        } else {
            Item::Cut(frame.object)
        };
        match frame.kind {
            FrameKind::Added | FrameKind::Modified => {
                Ok(Self::of(reader.record(format, object).map(Delta::Applied)))
            }
            FrameKind::Deleted => Ok(Self::of(reader.record(format, object).map(Delta::Deleted))),
            FrameKind::Bookmark => Ok(Self::of_bookmark(bookmark(format, frame.object)?)),
            FrameKind::Error => {
                let status = status(format, frame.object).unwrap_or_default();
                Err(ItemError::Status(Box::new(status)))
            }
        }
    }

    fn of(delta: Result<Delta, RecordError>) -> Self {
        delta.map_or_else(Self::Unreadable, Self::Delta)
    }

    fn of_bookmark(bookmark: Bookmark) -> Self {
        if bookmark.ends_initial_state {
            Self::InitialStateEnd(bookmark.resource_version)
        } else {
            Self::Delta(Delta::Bookmark(bookmark.resource_version))
        }
    }
}

fn parse_beginning(format: BodyFormat, beginning: &[u8]) -> Option<Frame<'_>> {
    match format {
        BodyFormat::Json => Frame::parse_beginning(beginning),
        BodyFormat::Protobuf(_) => Frame::parse_protobuf_beginning(beginning),
    }
}

fn bookmark(format: BodyFormat, object: &[u8]) -> Result<Bookmark, ScanError> {
    match format {
        BodyFormat::Json => Bookmark::parse(object),
        BodyFormat::Protobuf(layout) => {
            Bookmark::parse_protobuf(ProtobufObject::new(layout, object))
        }
    }
}

fn status(format: BodyFormat, object: &[u8]) -> Option<Status> {
    match format {
        BodyFormat::Json => serde_json::from_slice(object).ok(),
        BodyFormat::Protobuf(_) => {
            let layout = Layouts::builtin().of_status()?;
            let json = ProtobufObject::new(layout, object).to_json().ok()?;
            serde_json::from_slice(&json).ok()
        }
    }
}

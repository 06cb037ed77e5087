//! Splits the body of a list into items, and that of a watch into frames.

use kubewright_wire::scan::{
    FrameScanner, Item, LineScanner, ListEnd, ListScanner, MessageScanner, ScanError,
};

use super::body_format::BodyFormat;
use super::item_error::ItemError;

/// Finds the items of a list.
pub(super) enum ItemScanner {
    Json(ListScanner),
    Protobuf(MessageScanner),
}

impl ItemScanner {
    pub(super) fn new(format: BodyFormat, limit: usize) -> Self {
        match format {
            BodyFormat::Json => Self::Json(ListScanner::new(limit)),
            BodyFormat::Protobuf(_) => Self::Protobuf(MessageScanner::new(limit)),
        }
    }

    pub(super) fn push(
        &mut self,
        chunk: &[u8],
        each: impl FnMut(Item<'_>) -> Result<(), ItemError>,
    ) -> Result<(), ItemError> {
        match self {
            Self::Json(scanner) => scanner.push(chunk, each),
            Self::Protobuf(scanner) => scanner.push(chunk, each),
        }
    }

    pub(super) fn finish(self) -> Result<ListEnd, ScanError> {
        match self {
            Self::Json(scanner) => scanner.finish(),
            Self::Protobuf(scanner) => scanner.finish(),
        }
    }
}

/// Finds the frames of a watch.
pub(super) enum WatchScanner {
    Json(LineScanner),
    Protobuf(FrameScanner),
}

impl WatchScanner {
    pub(super) fn new(format: BodyFormat, limit: usize) -> Self {
        match format {
            BodyFormat::Json => Self::Json(LineScanner::new(limit)),
            BodyFormat::Protobuf(_) => Self::Protobuf(FrameScanner::new(limit)),
        }
    }

    pub(super) fn push(
        &mut self,
        chunk: &[u8],
        each: impl FnMut(Item<'_>) -> Result<(), ItemError>,
    ) -> Result<(), ItemError> {
        match self {
            Self::Json(scanner) => scanner.push(chunk, each),
            Self::Protobuf(scanner) => scanner.push(chunk, each),
        }
    }
}

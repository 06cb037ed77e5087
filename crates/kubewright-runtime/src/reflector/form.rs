use kubewright_wire::protobuf::Layout;
use kubewright_wire::scan::{
    FrameScanner, Item, LineScanner, ListEnd, ListScanner, MessageScanner, ScanError,
};

use super::intake::ItemError;

/// The form in which a server has answered.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Json,
    /// Protobuf, with the layout of the objects.
    Protobuf(Layout),
}

/// Finds the items of a list.
pub(super) enum ItemScanner {
    Json(ListScanner),
    Protobuf(MessageScanner),
}

impl ItemScanner {
    pub(super) fn new(form: Form, limit: usize) -> Self {
        match form {
            Form::Json => Self::Json(ListScanner::new(limit)),
            Form::Protobuf(_) => Self::Protobuf(MessageScanner::new(limit)),
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
    pub(super) fn new(form: Form, limit: usize) -> Self {
        match form {
            Form::Json => Self::Json(LineScanner::new(limit)),
            Form::Protobuf(_) => Self::Protobuf(FrameScanner::new(limit)),
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

use kubewright_wire::protobuf::{Layouts, ProtobufObject};
use kubewright_wire::record::RecordError;
use kubewright_wire::scan::{Bookmark, Frame, FrameKind, Item, ScanError};
use kubewright_wire::status::Status;

use super::form::Form;
use super::intake::{Intake, ItemError};
use crate::store::Delta;

/// What one frame of a watch says.
pub(super) enum Told {
    Delta(Delta),
    /// The state is whole, as of this resourceVersion.
    Complete(String),
    /// The object could not be read.
    Unreadable(RecordError),
}

/// Reads a frame. An error ends the watch.
pub(super) fn read_frame(
    intake: &mut Intake,
    form: Form,
    item: Item<'_>,
) -> Result<Told, ItemError> {
    let (frame, is_whole) = match (form, item) {
        (Form::Json, Item::Whole(line)) => (Frame::parse(line)?, true),
        (Form::Protobuf(_), Item::Whole(frame)) => (Frame::parse_protobuf(frame)?, true),
        (_, Item::Cut(beginning)) => match parse_beginning(form, beginning) {
            Some(frame) => (frame, false),
            None => {
                let read = beginning.len();
                return Ok(Told::Unreadable(RecordError::Oversized { read }));
            }
        },
    };
    let object = match is_whole {
        true => Item::Whole(frame.object),
        false => Item::Cut(frame.object),
    };
    let told = |delta: Result<Delta, RecordError>| delta.map_or_else(Told::Unreadable, Told::Delta);
    match frame.kind {
        FrameKind::Added | FrameKind::Modified => {
            Ok(told(intake.record(form, object).map(Delta::Applied)))
        }
        FrameKind::Deleted => Ok(told(intake.record(form, object).map(Delta::Deleted))),
        FrameKind::Bookmark => {
            let bookmark = bookmark(form, frame.object)?;
            Ok(match bookmark.ends_initial_state {
                true => Told::Complete(bookmark.resource_version),
                false => Told::Delta(Delta::Bookmark(bookmark.resource_version)),
            })
        }
        FrameKind::Error => {
            let status = status(form, frame.object).unwrap_or_default();
            Err(ItemError::Refused(Box::new(status)))
        }
    }
}

fn parse_beginning(form: Form, beginning: &[u8]) -> Option<Frame<'_>> {
    match form {
        Form::Json => Frame::parse_beginning(beginning),
        Form::Protobuf(_) => Frame::parse_protobuf_beginning(beginning),
    }
}

fn bookmark(form: Form, object: &[u8]) -> Result<Bookmark, ScanError> {
    match form {
        Form::Json => Bookmark::parse(object),
        Form::Protobuf(layout) => Bookmark::parse_protobuf(ProtobufObject::new(layout, object)),
    }
}

fn status(form: Form, object: &[u8]) -> Option<Status> {
    match form {
        Form::Json => serde_json::from_slice(object).ok(),
        Form::Protobuf(_) => {
            let layout = Layouts::builtin().of_status()?;
            let json = ProtobufObject::new(layout, object).to_json().ok()?;
            serde_json::from_slice(&json).ok()
        }
    }
}

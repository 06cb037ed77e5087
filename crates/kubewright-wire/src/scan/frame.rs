//! Frames of a watch: the event type and its object.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::ScanError;
use crate::protobuf::{Envelope, Fields, ProtobufError, ProtobufObject, Wire};

/// The event type of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum FrameKind {
    /// The object is new to this watch.
    Added,
    /// The object has changed.
    Modified,
    /// The object was deleted; this is its last state.
    Deleted,
    /// Not an object of the kind: the revision that the watch has reached.
    Bookmark,
    /// Not an object of the kind: the Status of the failed watch.
    Error,
}

/// One frame of a watch, its object still as bytes.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The event type.
    pub kind: FrameKind,
    /// The object.
    pub object: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Parses the line of one frame, `{"type":..,"object":..}` in either order.
    ///
    /// ```
    /// use kubewright_wire::scan::{Frame, FrameKind};
    ///
    /// let frame = Frame::parse(br#"{"type":"ADDED","object":{"kind":"Pod"}}"#)?;
    /// assert_eq!((frame.kind, frame.object), (FrameKind::Added, &br#"{"kind":"Pod"}"#[..]));
    /// # Ok::<(), kubewright_wire::scan::ScanError>(())
    /// ```
    pub fn parse(line: &'a [u8]) -> Result<Self, ScanError> {
        #[derive(Deserialize)]
        struct Raw<'r> {
            r#type: FrameKind,
            #[serde(borrow)]
            object: &'r RawValue,
        }
        let raw: Raw<'a> = serde_json::from_slice(line).map_err(|source| ScanError::Parse {
            what: "a frame of a watch",
            source,
        })?;
        Ok(Self {
            kind: raw.r#type,
            object: raw.object.get().as_bytes(),
        })
    }

    /// Parses the beginning of a line that is too long, `{"type":..,"object":..` in this order. The
    /// object is truncated.
    pub fn parse_beginning(line: &'a [u8]) -> Option<Self> {
        let rest = line.strip_prefix(br#"{"type":"#)?;
        let (word, rest) = rest.split_at_checked(rest.iter().position(|byte| *byte == b',')?)?;
        Some(Self {
            kind: serde_json::from_slice(word).ok()?,
            object: rest.strip_prefix(br#","object":"#)?,
        })
    }

    /// Parses a frame in protobuf: its type, and an envelope with the object.
    pub fn parse_protobuf(frame: &'a [u8]) -> Result<Self, ScanError> {
        let read = || {
            let (mut kind, mut envelope): (_, &[u8]) = (None, &[]);
            let mut fields = Fields::new(frame);
            while let Some((number, wire)) = fields.next()? {
                match (number, wire) {
                    (1, Wire::Bytes(word)) => kind = FrameKind::of(word),
                    (2, Wire::Bytes(bytes)) => envelope = bytes,
                    _ => {}
                }
            }
            let mut raw: &[u8] = &[];
            let mut envelope_fields = Fields::new(envelope);
            while let Some((number, wire)) = envelope_fields.next()? {
                if let (1, Wire::Bytes(bytes)) = (number, wire) {
                    raw = bytes;
                }
            }
            Ok(Self {
                kind: kind.ok_or(ProtobufError::Mismatch)?,
                object: Envelope::open(raw)?.object,
            })
        };
        read().map_err(|source| ScanError::Protobuf {
            what: "a frame of a watch",
            source,
        })
    }

    /// Parses the beginning of a frame in protobuf that is too long. The object is truncated.
    pub fn parse_protobuf_beginning(frame: &'a [u8]) -> Option<Self> {
        let mut fields = Fields::new(frame);
        let (1, word) = fields.next_cut()? else {
            return None;
        };
        let kind = FrameKind::of(word)?;
        let (2, envelope) = fields.next_cut()? else {
            return None;
        };
        let (1, raw) = Fields::new(envelope).next_cut()? else {
            return None;
        };
        let object = Envelope::open_beginning(raw)?.object;
        Some(Self { kind, object })
    }
}

impl FrameKind {
    fn of(word: &[u8]) -> Option<Self> {
        match word {
            b"ADDED" => Some(Self::Added),
            b"MODIFIED" => Some(Self::Modified),
            b"DELETED" => Some(Self::Deleted),
            b"BOOKMARK" => Some(Self::Bookmark),
            b"ERROR" => Some(Self::Error),
            _ => None,
        }
    }
}

/// The content of a [`FrameKind::Bookmark`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bookmark {
    /// The revision that the watch has reached.
    pub resource_version: String,
    /// Whether all objects of the initial state have been sent: the end of a streaming list.
    pub ends_initial_state: bool,
}

impl Bookmark {
    /// Parses the object of a bookmark's frame.
    pub fn parse(object: &[u8]) -> Result<Self, ScanError> {
        let raw: RawBookmark =
            serde_json::from_slice(object).map_err(|source| ScanError::Parse {
                what: "a bookmark of a watch",
                source,
            })?;
        Ok(raw.into())
    }

    /// Parses the object of a bookmark's frame in protobuf.
    pub fn parse_protobuf(object: ProtobufObject<'_>) -> Result<Self, ScanError> {
        let json = object.to_json().map_err(|source| ScanError::Protobuf {
            what: "a bookmark of a watch",
            source,
        })?;
        Self::parse(&json)
    }
}

#[derive(Deserialize)]
struct RawBookmark {
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    resource_version: String,
    #[serde(default)]
    annotations: Annotations,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Annotations {
    #[serde(rename = "k8s.io/initial-events-end")]
    initial_events_end: String,
}

impl From<RawBookmark> for Bookmark {
    fn from(raw: RawBookmark) -> Self {
        Self {
            resource_version: raw.metadata.resource_version,
            ends_initial_state: raw.metadata.annotations.initial_events_end == "true",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bookmark, Frame, FrameKind};

    #[test]
    fn type_and_object_are_read_in_either_order() {
        let line = br#"{"object": {"metadata":{"name":"a"}} ,"type":"DELETED"}"#;
        let frame = Frame::parse(line).unwrap();
        assert_eq!(frame.kind, FrameKind::Deleted);
        assert_eq!(frame.object, br#"{"metadata":{"name":"a"}}"#);
    }

    #[test]
    fn bookmark_has_the_revision_and_the_end_of_the_initial_state() {
        let plain =
            br#"{"kind":"Pod","metadata":{"resourceVersion":"12","creationTimestamp":null}}"#;
        let bookmark = Bookmark::parse(plain).unwrap();
        assert_eq!(bookmark.resource_version, "12");
        assert!(!bookmark.ends_initial_state);
        let end = br#"{"metadata":{"resourceVersion":"12","annotations":{"k8s.io/initial-events-end":"true"}}}"#;
        assert!(Bookmark::parse(end).unwrap().ends_initial_state);
    }

    #[test]
    fn beginning_of_a_frame_has_its_type_and_truncated_object() {
        let frame = Frame::parse_beginning(br#"{"type":"MODIFIED","object":{"kind":"Po"#).unwrap();
        assert_eq!(frame.kind, FrameKind::Modified);
        assert_eq!(frame.object, br#"{"kind":"Po"#);
        for bad in [&br#"{"type":"MODI"#[..], br#"{"object":{"type":"#, b""] {
            assert!(Frame::parse_beginning(bad).is_none());
        }
    }

    #[test]
    fn unknown_type_and_truncated_frame_are_errors() {
        for bad in [
            &br#"{"type":"GONE","object":{}}"#[..],
            br#"{"type":"ADDED"}"#,
            b"{",
        ] {
            assert!(Frame::parse(bad).is_err());
        }
    }
}

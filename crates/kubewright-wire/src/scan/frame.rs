use serde::Deserialize;
use serde_json::value::RawValue;

use super::ScanError;
use crate::protobuf::{Envelope, Fields, ProtobufError, ProtobufObject, Wire};

/// What a frame of a watch says about its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum FrameKind {
    /// The object is new to this watch.
    Added,
    /// The object has changed.
    Modified,
    /// The object is gone; this was its last state.
    Deleted,
    /// No object: the watch has come as far as this revision.
    Bookmark,
    /// No object: the watch has failed, and this Status says why.
    Error,
}

/// One frame of a watch, its object still as bytes.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// What happened.
    pub kind: FrameKind,
    /// To what.
    pub object: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Reads the line of one frame, `{"type":..,"object":..}` in either order.
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

    /// Reads the beginning of a line that is too long, `{"type":..,"object":..` in this order; the
    /// object is cut where the line is.
    pub fn parse_beginning(line: &'a [u8]) -> Option<Self> {
        let rest = line.strip_prefix(br#"{"type":"#)?;
        let (word, rest) = rest.split_at_checked(rest.iter().position(|byte| *byte == b',')?)?;
        Some(Self {
            kind: serde_json::from_slice(word).ok()?,
            object: rest.strip_prefix(br#","object":"#)?,
        })
    }

    /// Reads one frame in protobuf: its type, and an envelope with the object.
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
            let kind = kind.ok_or(ProtobufError::Mismatch)?;
            let mut raw: &[u8] = &[];
            let mut fields = Fields::new(envelope);
            while let Some((number, wire)) = fields.next()? {
                if let (1, Wire::Bytes(bytes)) = (number, wire) {
                    raw = bytes;
                }
            }
            let object = Envelope::open(raw)?.object;
            Ok(Self { kind, object })
        };
        read().map_err(|source| ScanError::Protobuf {
            what: "a frame of a watch",
            source,
        })
    }

    /// Reads the beginning of a frame in protobuf that is too long; the object is cut where the
    /// frame is.
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

/// What a [`FrameKind::Bookmark`] carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bookmark {
    /// How far the watch has come.
    pub resource_version: String,
    /// Whether everything that was there when the watch began has been sent: the end of a
    /// streaming list.
    pub ends_initial_state: bool,
}

impl Bookmark {
    /// Reads the object of a bookmark's frame.
    pub fn parse(object: &[u8]) -> Result<Self, ScanError> {
        let raw: RawBookmark =
            serde_json::from_slice(object).map_err(|source| ScanError::Parse {
                what: "a bookmark of a watch",
                source,
            })?;
        Ok(raw.into())
    }

    /// Reads the object of a bookmark's frame in protobuf.
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
    fn the_order_of_type_and_object_does_not_matter() {
        let line = br#"{"object": {"metadata":{"name":"a"}} ,"type":"DELETED"}"#;
        let frame = Frame::parse(line).unwrap();
        assert_eq!(frame.kind, FrameKind::Deleted);
        assert_eq!(frame.object, br#"{"metadata":{"name":"a"}}"#);
    }

    #[test]
    fn a_bookmark_says_how_far_the_watch_has_come() {
        let object =
            br#"{"kind":"Pod","metadata":{"resourceVersion":"12","creationTimestamp":null}}"#;
        let bookmark = Bookmark::parse(object).unwrap();
        assert_eq!(bookmark.resource_version, "12");
        assert!(!bookmark.ends_initial_state);
        let object = br#"{"metadata":{"resourceVersion":"12","annotations":{"k8s.io/initial-events-end":"true"}}}"#;
        assert!(Bookmark::parse(object).unwrap().ends_initial_state);
    }

    #[test]
    fn the_beginning_of_a_frame_tells_what_happened_to_the_object() {
        let frame = Frame::parse_beginning(br#"{"type":"MODIFIED","object":{"kind":"Po"#).unwrap();
        assert_eq!(frame.kind, FrameKind::Modified);
        assert_eq!(frame.object, br#"{"kind":"Po"#);
        for bad in [&br#"{"type":"MODI"#[..], br#"{"object":{"type":"#, b""] {
            assert!(Frame::parse_beginning(bad).is_none());
        }
    }

    #[test]
    fn an_unknown_type_or_a_cut_frame_is_an_error() {
        for bad in [
            &br#"{"type":"GONE","object":{}}"#[..],
            br#"{"type":"ADDED"}"#,
            b"{",
        ] {
            assert!(Frame::parse(bad).is_err());
        }
    }
}

use serde::Deserialize;
use serde_json::value::RawValue;

use super::ScanError;

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

/// One frame of a watch, its object still as JSON.
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
        #[derive(Deserialize)]
        struct Raw {
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
        let raw: Raw = serde_json::from_slice(object).map_err(|source| ScanError::Parse {
            what: "a bookmark of a watch",
            source,
        })?;
        Ok(Self {
            resource_version: raw.metadata.resource_version,
            ends_initial_state: raw.metadata.annotations.initial_events_end == "true",
        })
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

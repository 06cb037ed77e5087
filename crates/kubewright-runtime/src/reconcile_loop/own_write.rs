//! A write of a run, as its response describes it.

use bytes::Bytes;
use serde::Deserialize;

/// A write, and the response of the API server.
#[derive(Debug)]
pub(super) struct OwnWrite {
    /// Method and path of the request.
    pub(super) what: String,
    /// The revision of the written object.
    pub(super) revision: Option<u64>,
    /// The uid of the object that the write deleted.
    pub(super) deleted: Option<String>,
    pub(super) response: Bytes,
}

impl OwnWrite {
    /// Reads the response to a write.
    pub(super) fn read(what: String, response: &Bytes) -> Self {
        let head: Head = serde_json::from_slice(response).unwrap_or_default();
        let is_delete = what.starts_with("DELETE");
        Self {
            revision: head
                .metadata
                .resource_version
                .and_then(|text| text.parse().ok()),
            deleted: match head.details {
                Some(details) => Some(details.uid),
                None => head.metadata.uid.filter(|_| is_delete),
            },
            response: response.clone(),
            what,
        }
    }
}

/// The fields that are read from a response, which is an object or a `Status`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    metadata: HeadMetadata,
    details: Option<HeadDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct HeadMetadata {
    resource_version: Option<String>,
    uid: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HeadDetails {
    uid: String,
}

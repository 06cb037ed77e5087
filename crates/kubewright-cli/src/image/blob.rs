//! Blobs of an image, and the digests that identify them.

use std::io::Write as _;

use bytes::Bytes;
use flate2::{Compression, GzBuilder};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::error::Error;

/// Bytes and the digest that identifies them.
#[derive(Clone, Debug)]
pub(super) struct Blob {
    pub(super) media: &'static str,
    pub(super) digest: String,
    pub(super) bytes: Bytes,
}

impl Blob {
    pub(super) fn new(media: &'static str, bytes: Vec<u8>) -> Self {
        Self {
            media,
            digest: sha256(&bytes),
            bytes: bytes.into(),
        }
    }

    /// Returns a blob with a JSON value.
    pub(super) fn of_json(media: &'static str, value: &Value) -> Self {
        Self::new(media, value.to_string().into_bytes())
    }

    /// Returns the descriptor with which another blob refers to this one.
    pub(super) fn descriptor(&self) -> Value {
        json!({"mediaType": self.media, "digest": self.digest, "size": self.bytes.len()})
    }
}

/// Returns the digest, `sha256:` and 64 hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let digest = digest(&SHA256, bytes);
    let digits: String = digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("sha256:{digits}")
}

/// Compresses the bytes. The result depends only on the bytes.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut encoder = GzBuilder::new()
        .mtime(0)
        .write(Vec::new(), Compression::default());
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .map_err(|source| Error::Output { source })
}

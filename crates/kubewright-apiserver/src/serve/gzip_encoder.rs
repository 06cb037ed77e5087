//! A gzip encoder for the chunks of a body.

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Compresses the chunks of a body.
#[derive(Debug)]
pub(super) struct Gzip {
    /// None after the end.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl Gzip {
    pub(super) fn new() -> Self {
        Self {
            encoder: Some(GzEncoder::new(Vec::new(), Compression::fast())),
        }
    }

    /// The output for the next chunk, or for the end when there is none. It can be empty.
    pub(super) fn take(&mut self, chunk: Option<Bytes>) -> Option<Bytes> {
        const IN_MEMORY: &str = "compressing in memory does not fail";
        match chunk {
            Some(chunk) => {
                let encoder = self.encoder.as_mut()?;
                encoder.write_all(&chunk).expect(IN_MEMORY);
                Some(Bytes::from(std::mem::take(encoder.get_mut())))
            }
            None => {
                let rest = self.encoder.take()?.finish().expect(IN_MEMORY);
                Some(Bytes::from(rest))
            }
        }
    }
}

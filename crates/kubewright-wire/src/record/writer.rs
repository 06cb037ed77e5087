//! The byte format of nodes, for the encoder.

use super::dictionary;
use super::field_hash::FieldHash;
use super::node::tag;
use super::options::EncoderOptions;

/// The data after the nodes of a record.
#[derive(Default)]
pub(super) struct Trailer {
    /// The offset of the value of `metadata` in the root's content.
    pub(super) metadata: Option<usize>,
    pub(super) field_hash: Option<FieldHash>,
    /// Whether the object could not be read completely.
    pub(super) is_stub: bool,
}

pub(super) struct Writer<'w> {
    pub(super) out: &'w mut Vec<u8>,
    pub(super) options: &'w EncoderOptions,
    pub(super) trailer: Trailer,
}

impl Writer<'_> {
    pub(super) fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.out.push(low_byte(value) | 0x80);
            value >>= 7;
        }
        self.out.push(low_byte(value));
    }

    pub(super) fn tagged(&mut self, kind: u8, value: u64) {
        match u8::try_from(value) {
            Ok(small) if small < tag::FOLLOWS => self.out.push(kind << 5 | small),
            _ => {
                self.out.push(kind << 5 | tag::FOLLOWS);
                self.varint(value);
            }
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        let known = (text.len() <= dictionary::MAX_LENGTH).then(|| dictionary::find(text));
        match known.flatten() {
            Some(id) => self.tagged(tag::WORD, id as u64),
            None => {
                self.tagged(tag::TEXT, text.len() as u64);
                self.out.extend_from_slice(text.as_bytes());
            }
        }
    }

    pub(super) fn key(&mut self, key: &str, id: Option<usize>) {
        match id {
            Some(id) => self.varint(id as u64 + 1),
            None => {
                self.out.push(0);
                self.varint(key.len() as u64);
                self.out.extend_from_slice(key.as_bytes());
            }
        }
    }

    /// Begins an object or array; [`Writer::close`] writes its count and length.
    pub(super) fn open(&mut self, kind: u8) -> usize {
        let start = self.out.len();
        self.out.extend([kind << 5, 0]);
        start
    }

    /// Ends an object or array. Most have less than 128 bytes, for which one byte of length is
    /// reserved; the content of a longer one is moved by a byte or two.
    pub(super) fn close(&mut self, start: usize, count: usize) {
        let content = start + 2;
        let end = self.out.len();
        let mut length = end - content;
        let mut more = 0;
        while length >> (7 * (more + 1)) > 0 {
            more += 1;
        }
        self.out.resize(end + more, 0);
        self.out.copy_within(content..end, content + more);
        self.out[start] |= u8::try_from(count).unwrap_or(31).min(31);
        for at in 0..=more {
            let last = if at == more { 0 } else { 0x80 };
            self.out[start + 1 + at] = low_byte(length as u64) | last;
            length >>= 7;
        }
    }

    /// Writes `apiVersion` and `kind` of the options.
    pub(super) fn type_fields(&mut self) -> usize {
        let Some(kind) = &self.options.kind else {
            return 0;
        };
        for (key, value) in [("apiVersion", &kind.api_version()), ("kind", &kind.kind)] {
            self.key(key, dictionary::intern(key));
            match dictionary::intern(value) {
                Some(id) => self.tagged(tag::WORD, id as u64),
                None => self.text(value),
            }
        }
        2
    }
}

/// The seven lowest bits.
fn low_byte(value: u64) -> u8 {
    u8::try_from(value & 0x7f).expect("seven bits fit")
}

//! The envelope message of objects (`runtime.Unknown`).

use kubewright_core::{GroupVersion, Kind};

use super::bytes::{Fields, Wire};
use super::error::ProtobufError;
use super::special::text;

/// The prefix of each object.
const MAGIC: &[u8] = b"k8s\0";
/// The numbers of the fields with the kind and the object.
const TYPE_META: u64 = 1;
pub(crate) const RAW: u64 = 2;

/// The envelope of an object (`runtime.Unknown`).
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'b> {
    /// The object, or its beginning.
    pub object: &'b [u8],
    /// The message with its kind.
    type_meta: &'b [u8],
}

impl<'b> Envelope<'b> {
    /// Reads a complete envelope.
    pub fn open(bytes: &'b [u8]) -> Result<Self, ProtobufError> {
        let inside = bytes.strip_prefix(MAGIC).ok_or(ProtobufError::Magic)?;
        let (mut object, mut type_meta): (&[u8], &[u8]) = (&[], &[]);
        let mut fields = Fields::new(inside);
        while let Some((number, wire)) = fields.next()? {
            match (number, wire) {
                (TYPE_META, Wire::Bytes(bytes)) => type_meta = bytes,
                (RAW, Wire::Bytes(bytes)) => object = bytes,
                _ => {}
            }
        }
        Ok(Self { object, type_meta })
    }

    /// Reads a truncated envelope; `None` when it ends before the object.
    pub fn open_beginning(bytes: &'b [u8]) -> Option<Self> {
        let mut fields = Fields::new(bytes.strip_prefix(MAGIC)?);
        let mut type_meta: &[u8] = &[];
        while let Some((number, inside)) = fields.next_cut() {
            match number {
                TYPE_META => type_meta = inside,
                RAW => {
                    return Some(Self {
                        object: inside,
                        type_meta,
                    });
                }
                _ => {}
            }
        }
        None
    }

    /// The kind of the object; its parts are empty when the sender omitted them.
    pub fn kind(&self) -> Result<Kind, ProtobufError> {
        let (mut api_version, mut kind) = ("", "");
        let mut fields = Fields::new(self.type_meta);
        while let Some((number, wire)) = fields.next()? {
            match (number, wire) {
                (1, Wire::Bytes(bytes)) => api_version = text(bytes)?,
                (2, Wire::Bytes(bytes)) => kind = text(bytes)?,
                _ => {}
            }
        }
        Ok(Kind {
            group_version: GroupVersion::from_api_version(api_version),
            kind: kind.to_owned(),
        })
    }
}

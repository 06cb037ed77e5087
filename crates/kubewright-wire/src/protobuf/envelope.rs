//! The message in which Kubernetes sends objects.

use kubewright_core::{GroupVersion, Kind};

use super::ProtobufError;
use super::bytes::{Fields, Wire};
use super::special::text;

/// What begins each object in Kubernetes' protobuf.
const MAGIC: &[u8] = b"k8s\0";
/// The numbers of the fields that hold the kind and the object.
const TYPE_META: u64 = 1;
pub(crate) const RAW: u64 = 2;

/// What Kubernetes sends an object in (`runtime.Unknown`).
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'b> {
    /// The object, or its beginning.
    pub object: &'b [u8],
    /// Its kind, as another message.
    type_meta: &'b [u8],
}

impl<'b> Envelope<'b> {
    /// Opens the envelope of a whole object.
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

    /// Opens the envelope of an object that is cut; none where the object has not begun.
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

    /// The kind of the object; its parts are empty where the sender left them out.
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

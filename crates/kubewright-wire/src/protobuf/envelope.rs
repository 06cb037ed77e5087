use super::ProtobufError;
use super::bytes::{Fields, Wire};
use super::decode::MAGIC;

/// What Kubernetes sends an object in (`runtime.Unknown`).
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'b> {
    /// The object, or its beginning.
    pub object: &'b [u8],
}

/// The number of the field that holds the object.
pub(crate) const RAW: u64 = 2;

impl<'b> Envelope<'b> {
    /// Opens the envelope of a whole object.
    pub fn open(bytes: &'b [u8]) -> Result<Self, ProtobufError> {
        let inside = bytes.strip_prefix(MAGIC).ok_or(ProtobufError::Magic)?;
        let mut object: &[u8] = &[];
        let mut fields = Fields::new(inside);
        while let Some((number, wire)) = fields.next()? {
            if let (RAW, Wire::Bytes(bytes)) = (number, wire) {
                object = bytes;
            }
        }
        Ok(Self { object })
    }

    /// Opens the envelope of an object that is cut; none where the object has not begun.
    pub fn open_beginning(bytes: &'b [u8]) -> Option<Self> {
        let mut fields = Fields::new(bytes.strip_prefix(MAGIC)?);
        while let Some((number, inside)) = fields.next_cut() {
            if number == RAW {
                return Some(Self { object: inside });
            }
        }
        None
    }
}

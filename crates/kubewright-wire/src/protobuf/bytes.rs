//! The wire format of protobuf: fields and their values.

use super::error::ProtobufError;

/// Iterates over the fields of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'b> {
    rest: &'b [u8],
}

/// The value of a field on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wire<'b> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'b [u8]),
}

impl Wire<'_> {
    /// Whether it is zero or empty. Of messages only times are omitted when they are zero, and a
    /// zero time is empty.
    pub(super) fn is_zero(self) -> bool {
        match self {
            Self::Varint(value) | Self::Fixed64(value) => value == 0,
            Self::Fixed32(value) => value == 0,
            Self::Bytes(bytes) => bytes.is_empty(),
        }
    }
}

impl<'b> Fields<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The number and value of the next field; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Wire<'b>)>, ProtobufError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let wire = match tag & 7 {
            0 => Wire::Varint(self.varint()?),
            1 => {
                let bytes = self.array::<8>()?;
                Wire::Fixed64(u64::from_le_bytes(bytes))
            }
            2 => Wire::Bytes(self.delimited()?),
            5 => {
                let bytes = self.array::<4>()?;
                Wire::Fixed32(u32::from_le_bytes(bytes))
            }
            other => return Err(ProtobufError::WireType(other)),
        };
        Ok(Some((tag >> 3, wire)))
    }

    /// The number of unread bytes.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    /// The number and the available bytes of the next field, for truncated messages.
    ///
    /// `None` when the field is not length-delimited, or its length is missing.
    pub(crate) fn next_cut(&mut self) -> Option<(u64, &'b [u8])> {
        let tag = self.varint().ok().filter(|tag| tag & 7 == 2)?;
        let length = usize::try_from(self.varint().ok()?).unwrap_or(usize::MAX);
        let taken = self.take(length.min(self.rest.len())).ok()?;
        Some((tag >> 3, taken))
    }

    /// The next number of a packed list; `None` at the end.
    pub(crate) fn next_packed(&mut self) -> Result<Option<u64>, ProtobufError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        self.varint().map(Some)
    }

    fn delimited(&mut self) -> Result<&'b [u8], ProtobufError> {
        let length = usize::try_from(self.varint()?).map_err(|_| ProtobufError::Truncated)?;
        self.take(length)
    }

    fn varint(&mut self) -> Result<u64, ProtobufError> {
        // Most numbers have one byte.
        if let Some((&byte, rest)) = self.rest.split_first()
            && byte < 0x80
        {
            self.rest = rest;
            return Ok(byte.into());
        }
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array::<1>()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ProtobufError::Truncated)
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], ProtobufError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(ProtobufError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ProtobufError> {
        let (taken, rest) = self
            .rest
            .split_first_chunk()
            .ok_or(ProtobufError::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }
}

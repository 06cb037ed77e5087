use super::ProtobufError;

/// Reads the fields of a message one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'b> {
    rest: &'b [u8],
}

/// What a field holds on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wire<'b> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'b [u8]),
}

impl<'b> Fields<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next field's number and content; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Wire<'b>)>, ProtobufError> {
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
            2 => {
                let length = self.varint()?;
                let length = usize::try_from(length).map_err(|_| ProtobufError::Truncated)?;
                Wire::Bytes(self.take(length)?)
            }
            5 => {
                let bytes = self.array::<4>()?;
                Wire::Fixed32(u32::from_le_bytes(bytes))
            }
            other => return Err(ProtobufError::WireType(other)),
        };
        Ok(Some((tag >> 3, wire)))
    }

    fn varint(&mut self) -> Result<u64, ProtobufError> {
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

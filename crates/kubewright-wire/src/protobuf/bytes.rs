use super::ProtobufError;

/// Reads the fields of a message one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'b> {
    rest: &'b [u8],
}

/// What a field holds on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wire<'b> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'b [u8]),
}

impl<'b> Fields<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next field's number and content; none at the end.
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
            2 => Wire::Bytes(self.run()?),
            5 => {
                let bytes = self.array::<4>()?;
                Wire::Fixed32(u32::from_le_bytes(bytes))
            }
            other => return Err(ProtobufError::WireType(other)),
        };
        Ok(Some((tag >> 3, wire)))
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    /// The content of the last field, as much as there is of it: for messages that are cut.
    ///
    /// None where the field is no run of bytes, or where not even its length is there.
    pub(crate) fn next_cut(&mut self) -> Option<(u64, &'b [u8])> {
        let tag = self.varint().ok().filter(|tag| tag & 7 == 2)?;
        let length = usize::try_from(self.varint().ok()?).unwrap_or(usize::MAX);
        let taken = self.take(length.min(self.rest.len())).ok()?;
        Some((tag >> 3, taken))
    }

    /// One of the numbers of a packed list; none at the end.
    pub(crate) fn next_packed(&mut self) -> Result<Option<u64>, ProtobufError> {
        match self.rest.is_empty() {
            true => Ok(None),
            false => self.varint().map(Some),
        }
    }

    fn run(&mut self) -> Result<&'b [u8], ProtobufError> {
        let length = self.varint()?;
        let length = usize::try_from(length).map_err(|_| ProtobufError::Truncated)?;
        self.take(length)
    }

    fn varint(&mut self) -> Result<u64, ProtobufError> {
        // Most numbers are of one byte.
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

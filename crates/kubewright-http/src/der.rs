//! DER, the encoding of certificates.

pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const UTC_TIME: u8 = 0x17;
pub(crate) const GENERALIZED_TIME: u8 = 0x18;

/// Reads the elements of one level of DER. The field is what has not been read yet.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    /// The tag and content of the next element.
    pub(crate) fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            if length.len() > 4 {
                return None;
            }
            let read = |sum: usize, byte: &u8| sum << 8 | usize::from(*byte);
            (length.iter().fold(0, read), rest)
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }

    /// The content of the next element, when it has this tag.
    pub(crate) fn next_of(&mut self, wanted: u8) -> Option<&'a [u8]> {
        let (tag, content) = self.next()?;
        (tag == wanted).then_some(content)
    }
}

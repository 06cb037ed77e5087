/// One object of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// All of its bytes.
    Whole(&'a [u8]),
    /// Its beginning: it has more bytes than the reader allows, and the rest is passed over.
    Cut(&'a [u8]),
}

//! An object of a stream.

/// One object of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// The complete object.
    Whole(&'a [u8]),
    /// The beginning of an object that is larger than allowed; the rest is skipped.
    Cut(&'a [u8]),
}

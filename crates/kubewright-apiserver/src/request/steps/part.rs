//! The part of an object that a write is about.

/// The part of an object that a write is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The object without its status, where that is a subresource.
    Main,
    /// The status.
    Status,
    /// Everything: subresources with rules of their own, such as a Pod's binding.
    Whole,
}

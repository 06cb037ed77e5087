//! The part of an object that a write changes.

/// The part of an object that a write changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The object without its status, where that is a subresource.
    Main,
    /// The status.
    Status,
    /// The whole object: subresources with their own rules, such as the binding of a Pod.
    Whole,
}
